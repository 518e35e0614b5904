// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"slices"

	"github.com/pipedeck/pipedeck/api/model"
)

// connect fills in what the stages require and returns them in an order in which each follows what it
// requires: agents that know only lists run them rightly then. The stages come in the order of their
// indexes; requires holds, for each index, the indexes that it waits for, without a cycle.
func connect(stages []*model.PipelineStage, requires [][]int) []*model.PipelineStage {
	g := &graph{
		requires: requires, byIndex: map[int]*model.PipelineStage{}, known: map[int][]int{}, placed: map[int]bool{},
	}
	for _, stage := range stages {
		g.byIndex[int(stage.GetIndex())] = stage
	}
	for _, stage := range stages {
		for _, index := range g.before(int(stage.GetIndex())) {
			stage.Requires = append(stage.Requires, g.byIndex[index].GetId())
		}
	}
	for _, stage := range stages {
		g.place(int(stage.GetIndex()))
	}
	return g.ordered
}

type graph struct {
	requires [][]int
	byIndex  map[int]*model.PipelineStage
	known    map[int][]int // answers of before
	ordered  []*model.PipelineStage
	placed   map[int]bool
}

// before are the stages that the one at index waits for. In place of a stage that its plugin left out,
// they are those that it would have waited for.
func (g *graph) before(index int) []int {
	if found, ok := g.known[index]; ok {
		return found
	}
	var found []int
	for _, i := range g.requires[index] {
		if g.byIndex[i] != nil {
			found = append(found, i)
		} else {
			found = append(found, g.before(i)...)
		}
	}
	slices.Sort(found)
	g.known[index] = slices.Compact(found)
	return g.known[index]
}

func (g *graph) place(index int) {
	if g.placed[index] {
		return
	}
	g.placed[index] = true
	for _, i := range g.before(index) {
		g.place(i)
	}
	g.ordered = append(g.ordered, g.byIndex[index])
}
