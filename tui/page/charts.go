// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/text"
)

const (
	// seriesKey is the metadata of a stage with the values of its metrics, a list of Chart without the stage.
	seriesKey = "pipedeck/analysis-series"
	// analysisStage is the type of the stages that have it, analysisPlugin who executes them.
	analysisStage, analysisPlugin = "ANALYSIS", "analysis"

	maxCharts = 12
	maxPoints = 500
	// maxRuns bounds the stages whose charts are kept, runTime one call for them.
	maxRuns = 128
	runTime = 5 * time.Second
)

// stageID names a stage in an environment.
type stageID struct{ deployment, stage string }

// run is what is known of the charts of a stage: of which version of it, and whether a call is under way.
type run struct {
	of     *deckv1.Stage
	charts []Chart
	asked  bool
}

// chartStore is what a hub knows of charts; runsAt counts the answers.
type chartStore struct {
	runs   map[stageID]*run
	runsAt int
	askRun chan<- request
}

// charts asks for the charts of the deployments that streams show.
type charts struct {
	hub   *hub
	asked chan request
	group sync.WaitGroup
}

type request struct {
	id stageID
	of *deckv1.Stage
}

func newCharts(h *hub) *charts {
	c := &charts{hub: h, asked: make(chan request, maxRuns)}
	h.chartStore = chartStore{runs: map[stageID]*run{}, askRun: c.asked}
	return c
}

func (c *charts) begin(ctx context.Context) { c.group.Go(func() { c.run(ctx) }) }

func (c *charts) wait() { c.group.Wait() }

func (c *charts) run(ctx context.Context) {
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
func (c *charts) ask(ctx context.Context, r request) {
	var found []Chart
	client, _, _ := c.hub.reader()
	failed := client == nil
	if !failed {
		ctx, cancel := context.WithTimeout(ctx, runTime)
		defer cancel()
		answer, err := client.GetStageRun(ctx,
			&deckv1.GetStageRunRequest{DeploymentId: r.id.deployment, StageId: r.id.stage})
		found, failed = chartsIn(r.id.stage, answer.GetMetadata()[seriesKey]), err != nil
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

// chartsOf returns the charts of a deployment with their version, and asks for those that may have changed.
func (h *hub) chartsOf(id string) (all []Chart, version int) {
	for _, s := range h.deck.Deployment(id).GetStages() {
		if !s.GetStartedAt().IsValid() || s.GetName() != analysisStage && s.GetPlugin() != analysisPlugin {
			continue
		}
		key := stageID{id, s.GetId()}
		known := h.runs[key]
		if known == nil {
			if len(h.runs) >= maxRuns {
				clear(h.runs)
			}
			known = &run{}
			h.runs[key] = known
		}
		if known.of != s && !known.asked {
			select {
			case h.askRun <- request{key, s}:
				known.asked = true
			default: // the next change asks again
			}
		}
		all = append(all, known.charts...)
	}
	return all, h.runsAt
}

// keepRun takes an answer, or notes that there was none.
func (h *hub) keepRun(r request, found []Chart, failed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.runs[r.id]
	if known == nil {
		return
	}
	known.asked, known.of = false, r.of
	if !failed {
		known.charts = found
	}
	h.runsAt++
	h.wake()
}
