// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package layout

import (
	"cmp"
	"container/heap"
	"slices"
)

// LaneEdge is an edge on its way down: it leaves the row of From in Lane, stays in that lane and ends in the row of To.
type LaneEdge struct {
	From, To int
	Lane     int
}

// LanePicture has one node on each row.
type LanePicture struct {
	// Order holds the node of each row; -1 is the empty row between two components. Nodes
	// without edges need no such row between them.
	Order []int
	// Row and Lane are the place of each node.
	Row, Lane []int
	// Edges are in the order of the rows of From, then of the rows of To.
	Edges []LaneEdge
	// Lanes is the number of lanes in use.
	Lanes int
}

// Lanes places g from the top down. A branch stays together: next comes the node whose latest need stands lowest.
func Lanes(g Graph) LanePicture {
	p := LanePicture{Row: make([]int, len(g.Needs)), Lane: make([]int, len(g.Needs))}
	components := g.Components()
	for i, component := range components {
		if i > 0 && len(components[i-1])+len(component) > 2 {
			p.Order = append(p.Order, -1)
		}
		start := len(p.Order)
		p.orderRows(g, component)
		p.assignLanes(g, p.Order[start:])
	}
	return p
}

// readyNodes is a heap of the nodes whose needs are placed, by the row of the latest need, then the author's order.
type readyNodes struct{ node, latest []int }

func (r readyNodes) Len() int { return len(r.node) }
func (r readyNodes) Less(i, j int) bool {
	if r.latest[i] != r.latest[j] {
		return r.latest[i] > r.latest[j]
	}
	return r.node[i] < r.node[j]
}
func (r readyNodes) Swap(i, j int) {
	r.node[i], r.node[j] = r.node[j], r.node[i]
	r.latest[i], r.latest[j] = r.latest[j], r.latest[i]
}
func (r *readyNodes) Push(x any) {
	pair := x.([2]int)
	r.node, r.latest = append(r.node, pair[0]), append(r.latest, pair[1])
}
func (r *readyNodes) Pop() any {
	last := len(r.node) - 1
	pair := [2]int{r.node[last], r.latest[last]}
	r.node, r.latest = r.node[:last], r.latest[:last]
	return pair
}

func (p *LanePicture) orderRows(g Graph, component []int) {
	open := make(map[int]int, len(component))
	ready := &readyNodes{}
	for _, i := range component {
		if open[i] = len(g.Needs[i]); open[i] == 0 {
			heap.Push(ready, [2]int{i, -1})
		}
	}
	for ready.Len() > 0 {
		i := heap.Pop(ready).([2]int)[0]
		p.Row[i] = len(p.Order)
		p.Order = append(p.Order, i)
		for _, j := range g.Followers[i] {
			if open[j]--; open[j] == 0 {
				heap.Push(ready, [2]int{j, p.Row[i]})
			}
		}
	}
}

// assignLanes gives each edge a lane. taken holds the target of the edge in each lane, -1 for an empty lane.
func (p *LanePicture) assignLanes(g Graph, order []int) {
	var taken []int
	for _, node := range order {
		lane := -1
		for i, target := range taken {
			if target == node {
				if lane < 0 {
					lane = i
				}
				taken[i] = -1
			}
		}
		if lane < 0 {
			lane = emptyLane(&taken, 0)
		}
		p.Lane[node] = lane
		followers := slices.Clone(g.Followers[node])
		slices.SortFunc(followers, func(a, b int) int { return cmp.Compare(p.Row[a], p.Row[b]) })
		next := lane
		for k, follower := range followers {
			if k > 0 {
				next = emptyLane(&taken, next+1)
			}
			taken[next] = follower
			p.Edges = append(p.Edges, LaneEdge{From: node, To: follower, Lane: next})
		}
		p.Lanes = max(p.Lanes, lane+1, next+1)
	}
}

// emptyLane returns the first empty lane at or right of from, opening one at the end if there is none.
func emptyLane(taken *[]int, from int) int {
	for i := from; i < len(*taken); i++ {
		if (*taken)[i] < 0 {
			return i
		}
	}
	*taken = append(*taken, -1)
	return len(*taken) - 1
}
