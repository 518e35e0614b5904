// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

const (
	// seriesKey is the metadata of a stage with the values of its metrics, a list of Chart without the stage.
	seriesKey = "pipedeck/analysis-series"

	maxCharts = 12
	maxPoints = 500
	// maxRuns bounds the stages whose runs are kept, maxAsked the calls that wait, runTime one call.
	maxRuns  = 1024
	maxAsked = 128
	runTime  = 5 * time.Second
)

// stageID names a stage in an environment.
type stageID struct{ deployment, stage string }

// drawn is what the metadata of stages has for pages to draw.
type drawn struct {
	charts  []Chart
	planned []Planned
}

// run is what is known of a stage: of which version of it, and whether a call is under way.
type run struct {
	of *deckv1.Stage
	drawn
	asked bool
}

// runStore is what a hub knows of the runs of stages; runsAt counts the answers that have changed something.
type runStore struct {
	runs   map[stageID]*run
	runsAt int
	askRun chan<- request
}

// runs asks for the metadata of the stages of the deployments that streams show. Any plugin may write what is drawn.
type runs struct {
	hub   *hub
	asked chan request
	group sync.WaitGroup
}

type request struct {
	id stageID
	of *deckv1.Stage
}

func newRuns(h *hub) *runs {
	c := &runs{hub: h, asked: make(chan request, maxAsked)}
	h.runStore = runStore{runs: map[stageID]*run{}, askRun: c.asked}
	return c
}

func (c *runs) begin(ctx context.Context) { c.group.Go(func() { c.run(ctx) }) }

func (c *runs) wait() { c.group.Wait() }

func (c *runs) run(ctx context.Context) {
	for {
		select {
		case r := <-c.asked:
			c.ask(ctx, r)
		case <-ctx.Done():
			return
		}
	}
}

// ask takes the answer into the hub; one that failed leaves what is known, until the stage changes.
func (c *runs) ask(ctx context.Context, r request) {
	var found drawn
	client, _, _ := c.hub.reader()
	failed := client == nil
	if !failed {
		ctx, cancel := context.WithTimeout(ctx, runTime)
		defer cancel()
		answer, err := client.GetStageRun(ctx,
			&deckv1.GetStageRunRequest{DeploymentId: r.id.deployment, StageId: r.id.stage})
		metadata := answer.GetMetadata()
		found = drawn{chartsIn(r.id.stage, metadata[seriesKey]), plannedIn(r.id.stage, metadata)}
		failed = err != nil
	}
	c.hub.keepRun(r, found, failed)
}

// chartsIn reads the charts of a stage; none when they have another form.
func chartsIn(stage, series string) []Chart {
	var all []Chart
	if json.Unmarshal([]byte(series), &all) != nil {
		return nil
	}
	all = all[:min(len(all), maxCharts)]
	for i := range all {
		c := &all[i]
		c.Stage, c.Name, c.Query = stage, text.Line(c.Name), text.Line(c.Query)
		c.Points = slices.Clone(c.Points[max(0, len(c.Points)-maxPoints):])
		if c.Points == nil {
			c.Points = []Point{}
		}
	}
	return all
}

// plannedIn reads what a stage changes, or would change.
func plannedIn(stage string, metadata map[string]string) (all []Planned) {
	for _, table := range view.PlannedTables(metadata) {
		planned := Planned{Stage: stage, Head: table.Head, Rows: []PlannedRow{}}
		for _, row := range table.Rows {
			planned.Rows = append(planned.Rows, PlannedRow{row.Sign, row.Words, row.Kind, row.Field})
		}
		all = append(all, planned)
	}
	return all
}

// drawnOf returns what is drawn of the stages of a deployment with its version, and asks for what may have changed.
func (h *hub) drawnOf(id string) (all drawn, version int) {
	for _, s := range h.deck.Deployment(id).GetStages() {
		if !s.GetStartedAt().IsValid() {
			continue
		}
		key := stageID{id, s.GetId()}
		known := h.runs[key]
		if known == nil {
			if len(h.runs) >= maxRuns && !h.dropRuns(id) {
				continue
			}
			known = &run{}
			h.runs[key] = known
		}
		if known.of != s && !known.asked {
			select {
			case h.askRun <- request{key, s}:
				known.asked = true
			default: // the next answer wakes the streams, which ask again
			}
		}
		all.charts = append(all.charts, known.charts...)
		all.planned = append(all.planned, known.planned...)
	}
	return all, h.runsAt
}

// dropRuns forgets the runs of all deployments but one, and reports whether that has made room.
func (h *hub) dropRuns(but string) bool {
	maps.DeleteFunc(h.runs, func(id stageID, _ *run) bool { return id.deployment != but })
	return len(h.runs) < maxRuns
}

// keepRun takes an answer, or notes that there was none.
func (h *hub) keepRun(r request, found drawn, failed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.runs[r.id]
	if known == nil {
		return
	}
	known.asked, known.of = false, r.of
	if !failed && !reflect.DeepEqual(known.drawn, found) {
		known.drawn = found
		h.runsAt++
	}
	h.wake()
}
