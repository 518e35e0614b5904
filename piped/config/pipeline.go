// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Pipeline is the list of stages. They run one after another in its order, as far as no stage says
// otherwise with Needs.
type Pipeline struct {
	// Stages run one after another, as far as their needs say nothing else.
	Stages []Stage `json:"stages"`
}

// Stage is one step of a pipeline.
type Stage struct {
	// ID names the stage for the needs of others: letters, digits, dot, dash and underscore, at most
	// 64, unique in the pipeline. Optional; agents that do not know it ignore it.
	ID string `json:"id,omitempty"`
	// Name is the name of a stage that a plugin offers.
	Name string `json:"name" config:"required"`
	// Desc is for people.
	Desc string `json:"desc,omitempty"`
	// Needs are the ids of the stages that must have succeeded before this one starts. Default: the
	// stage before this one in the list; an empty list means none.
	//
	// Nil, when the file does not say, means the stage before this one in the list. Empty but not nil
	// ("needs: []") means none: the stage starts with the deployment. [Pipeline.Requires] applies
	// this rule. Agents that do not know the key run the stages in their order.
	Needs []string `json:"needs,omitzero"`
	// Timeout bounds the stage. Default 6h.
	Timeout Duration `json:"timeout,omitempty" config:"positive"`
	// With is the plugin's options for the stage.
	//
	// It is JSON; empty when the file has none.
	With json.RawMessage `json:"with,omitempty"`
	// SkipOn says when the stage is skipped.
	SkipOn SkipOn `json:"skipOn,omitzero"`
}

func (s *Stage) setDefaults() { s.Timeout = DefaultTimeout }

// Requires returns, for each stage, the indexes in Stages of the stages that it waits for, in
// ascending order and without repetition. Of a pipeline that was parsed without an error the graph
// has no cycle; ids that no stage has are left out.
func (p *Pipeline) Requires() [][]int {
	byID := map[string]int{}
	for i, stage := range p.Stages {
		if _, taken := byID[stage.ID]; !taken && stage.ID != "" {
			byID[stage.ID] = i
		}
	}
	requires := make([][]int, len(p.Stages))
	for i, stage := range p.Stages {
		if stage.Needs == nil && i > 0 {
			requires[i] = []int{i - 1}
		}
		for _, id := range stage.Needs {
			if j, ok := byID[id]; ok {
				requires[i] = append(requires[i], j)
			}
		}
		slices.Sort(requires[i])
		requires[i] = slices.Compact(requires[i])
	}
	return requires
}

var stageID = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,64}$`)

func checkPipeline(d *decoder, p *Pipeline) {
	if p == nil {
		return
	}
	ids := newUnique(d)
	for i, stage := range p.Stages {
		at := fmt.Sprintf("spec.pipeline.stages[%d]", i)
		ids.add(at+".id", stage.ID)
		if stage.ID != "" && !stageID.MatchString(stage.ID) {
			d.fieldf(at+".id", "%q is not allowed here: want at most 64 letters, digits, dots, dashes and underscores",
				shorten(stage.ID))
		}
		d.patterns(at+".skipOn.paths", stage.SkipOn.Paths)
		for j, prefix := range stage.SkipOn.CommitMessagePrefixes {
			if prefix == "" {
				d.authorf(fmt.Sprintf("%s.skipOn.commitMessagePrefixes[%d]", at, j), "is empty: every message begins "+
					"with it, so the stage would never run")
			}
		}
		if with := strings.TrimSpace(string(stage.With)); with != "" && with != "null" && with[0] != '{' {
			d.fieldf(at+".with", "want a mapping with the options of the stage")
		}
	}
	checkNeeds(d, p)
}

func checkNeeds(d *decoder, p *Pipeline) {
	var ids []string
	known := map[string]bool{}
	for _, stage := range p.Stages {
		if stage.ID != "" && !known[stage.ID] {
			known[stage.ID] = true
			ids = append(ids, stage.ID)
		}
	}
	for i, stage := range p.Stages {
		listed := map[string]bool{}
		for j, id := range stage.Needs {
			at := fmt.Sprintf("spec.pipeline.stages[%d].needs[%d]", i, j)
			switch {
			case listed[id]:
				d.fieldf(at, "%q is listed already", shorten(id))
			case known[id] || len(d.errors) >= maxNoted: // To look for the nearest id takes long.
			case len(ids) == 0:
				d.fieldf(at, "no stage has the id %q; give the stage that is meant an id", shorten(id))
			default:
				d.fieldf(at, "no stage has the id %q%s", shorten(id), suggestion(id, ids))
			}
			listed[id] = true
		}
	}
	if cycle := p.cycle(); cycle != nil {
		d.fieldf(p.cyclePlace(cycle), "the stages wait for each other: %s; take out one of these needs",
			p.describeCycle(cycle))
	}
}

// cycle returns the indexes of stages that wait for each other, each for the next and the last for the
// first; nil when there is none.
func (p *Pipeline) cycle() []int {
	const visiting, visited = 1, 2
	requires, state := p.Requires(), make([]int, len(p.Stages))
	var path []int
	var visit func(i int) []int
	visit = func(i int) []int {
		state[i], path = visiting, append(path, i)
		for _, j := range requires[i] {
			if state[j] == visiting {
				return path[slices.Index(path, j):]
			}
			if state[j] == visited {
				continue
			}
			if found := visit(j); found != nil {
				return found
			}
		}
		state[i], path = visited, path[:len(path)-1]
		return nil
	}
	for i := range p.Stages {
		if state[i] == 0 {
			if found := visit(i); found != nil {
				return found
			}
		}
	}
	return nil
}

// cyclePlace is the first entry of a needs list on the cycle. There is one: without needs, stages only
// wait for stages before them.
func (p *Pipeline) cyclePlace(cycle []int) string {
	for k, i := range cycle {
		next := p.Stages[cycle[(k+1)%len(cycle)]].ID
		if j := slices.Index(p.Stages[i].Needs, next); j >= 0 && next != "" {
			return fmt.Sprintf("spec.pipeline.stages[%d].needs[%d]", i, j)
		}
	}
	return "spec.pipeline.stages"
}

func (p *Pipeline) describeCycle(cycle []int) string {
	var steps []string
	for k, i := range cycle {
		next := cycle[(k+1)%len(cycle)]
		verb := "needs"
		if p.Stages[i].Needs == nil {
			verb = "has no needs, so it runs after"
		}
		steps = append(steps, fmt.Sprintf("%s %s %s", p.label(i), verb, p.label(next)))
	}
	return strings.Join(steps, ", ")
}

// label is what a reader finds the stage by.
func (p *Pipeline) label(i int) string {
	if id := p.Stages[i].ID; id != "" {
		return strconv.Quote(shorten(id))
	}
	return fmt.Sprintf("stages[%d]", i)
}
