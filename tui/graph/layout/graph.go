// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package layout

// Node is a stage: its id and the ids of the stages it needs.
type Node struct {
	ID    string
	Needs []string
}

// Graph is a set of nodes without cycles. Nodes are named by their position in the author's order.
type Graph struct {
	// IDs are the ids as the author wrote them; an id that stands twice names the first of the nodes.
	IDs []string
	// Needs holds the needs of each node in the author's order, Followers the reverse in the order of nodes.
	Needs, Followers [][]int
}

// NewGraph reads nodes in the author's order. It drops unknown needs, needs of a node itself, repeated needs, and each
// need that closes a cycle when the nodes are followed in order.
func NewGraph(nodes []Node) Graph {
	g := Graph{
		IDs: make([]string, len(nodes)), Needs: make([][]int, len(nodes)), Followers: make([][]int, len(nodes)),
	}
	byID := make(map[string]int, len(nodes))
	for i, node := range nodes {
		g.IDs[i] = node.ID
		if _, taken := byID[node.ID]; !taken {
			byID[node.ID] = i
		}
	}
	named := make([][]int, len(nodes))
	for i, node := range nodes {
		for _, id := range node.Needs {
			if j, known := byID[id]; known {
				named[i] = append(named[i], j)
			}
		}
	}
	reader := reader{graph: g, named: named, state: make([]visit, len(nodes)), seen: make([]int, len(nodes))}
	for i := range nodes {
		reader.visit(i)
	}
	for i, needs := range g.Needs {
		for _, j := range needs {
			g.Followers[j] = append(g.Followers[j], i)
		}
	}
	return g
}

type visit uint8

const (
	unseen visit = iota
	onPath
	finished
)

type reader struct {
	graph Graph
	named [][]int
	state []visit
	// seen[j] is i+1 when i has named j already.
	seen []int
}

func (r *reader) visit(i int) {
	if r.state[i] != unseen {
		return
	}
	r.state[i] = onPath
	var needs []int
	for _, j := range r.named[i] {
		r.visit(j)
		if r.state[j] == finished {
			needs = append(needs, j)
		}
	}
	r.state[i] = finished
	for _, j := range needs {
		if r.seen[j] != i+1 {
			r.seen[j] = i + 1
			r.graph.Needs[i] = append(r.graph.Needs[i], j)
		}
	}
}

// Layers returns the layer of each node: one more than the deepest of its needs, 0 without needs.
func (g Graph) Layers() []int {
	layers := make([]int, len(g.Needs))
	open := make([]int, len(g.Needs))
	var ready []int
	for i, needs := range g.Needs {
		if open[i] = len(needs); open[i] == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		i := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		for _, j := range g.Followers[i] {
			layers[j] = max(layers[j], layers[i]+1)
			if open[j]--; open[j] == 0 {
				ready = append(ready, j)
			}
		}
	}
	return layers
}

// Components returns the nodes in groups that no edge connects, each in the author's order, the groups by their first
// node.
func (g Graph) Components() [][]int {
	group := make([]int, len(g.Needs))
	count := 0
	for i := range g.Needs {
		if group[i] != 0 {
			continue
		}
		count++
		group[i] = count
		for open := []int{i}; len(open) > 0; {
			at := open[len(open)-1]
			open = open[:len(open)-1]
			for _, neighbours := range [][]int{g.Needs[at], g.Followers[at]} {
				for _, j := range neighbours {
					if group[j] == 0 {
						group[j] = count
						open = append(open, j)
					}
				}
			}
		}
	}
	components := make([][]int, count)
	for i, c := range group {
		components[c-1] = append(components[c-1], i)
	}
	return components
}
