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

	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/view"
)

const (
	// seriesKey is the metadata of a stage with the values of its metrics, a list of Chart without the stage.
	seriesKey = "pipedeck/analysis-series"

	maxCharts = 12
	maxPoints = 500
	// maxRuns bounds the stages whose runs are kept, runTime one call.
	maxRuns = 1024
	runTime = 5 * time.Second
)

// stageID names a stage in an environment.
type stageID struct{ deployment, stage string }

// drawn is what the metadata of stages has for pages to draw.
type drawn struct {
	charts  []Chart
	planned []Planned
}

// run is what is known of a stage, and of which version of it.
type run struct {
	of *deckv1.Stage
	drawn
	// asked: a call waits or is under way, and due is the newest version meanwhile. failed: the last call has failed.
	asked, failed bool
	due           *deckv1.Stage
}

// old reports whether there may be more to know now that the stage is s. Of a stage that has ended, there is only when
// its message has changed; but in a recorded session, the answer comes after the message that it belongs to.
func (r *run) old(s *deckv1.Stage, recorded bool) bool {
	return r.of != s && (r.failed || recorded || !state.StageEnded(s.GetStatus()) || !proto.Equal(r.of, s))
}

// runStore is what a hub knows of the runs of stages; runsAt counts the answers that have changed something.
type runStore struct {
	runs   map[stageID]*run
	runsAt int
	most   int
	// queue are the stages to ask about, each once and each in runs; queued gets a value when one was added.
	queue  []stageID
	queued chan struct{}
}

func newRunStore() runStore {
	return runStore{runs: map[stageID]*run{}, most: maxRuns, queued: make(chan struct{}, 1)}
}

// runs asks for the metadata of the stages of the deployments that streams show. Any plugin may write what is drawn.
type runs struct {
	hub   *hub
	group sync.WaitGroup
}

type request struct {
	id    stageID
	known *run
	of    *deckv1.Stage
}

func newRuns(h *hub) *runs { return &runs{hub: h} }

func (c *runs) begin(ctx context.Context) { c.group.Go(func() { c.run(ctx) }) }

func (c *runs) wait() { c.group.Wait() }

func (c *runs) run(ctx context.Context) {
	for ctx.Err() == nil {
		if r, found := c.hub.nextRun(); found {
			c.ask(ctx, r)
			continue
		}
		select {
		case <-c.hub.queued:
		case <-ctx.Done():
		}
	}
}

// ask takes the answer into the hub; one that failed leaves what is known, until the stage changes.
func (c *runs) ask(ctx context.Context, r request) {
	client, _, _ := c.hub.reader()
	if client == nil {
		c.hub.leaveRun(r)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	answer, err := client.GetStageRun(ctx, &deckv1.GetStageRunRequest{
		DeploymentId: r.id.deployment, StageId: r.id.stage, WithoutCalls: true})
	metadata := answer.GetMetadata()
	c.hub.keepRun(r, drawn{chartsIn(r.id.stage, metadata[seriesKey]), plannedIn(r.id.stage, metadata)}, err != nil)
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
		known := h.runOf(stageID{id, s.GetId()})
		if known == nil {
			continue
		}
		if known.due = s; !known.asked {
			h.askAbout(stageID{id, s.GetId()}, known)
		}
		all.charts = append(all.charts, known.charts...)
		all.planned = append(all.planned, known.planned...)
	}
	return all, h.runsAt
}

// askAbout has a stage asked about when there may be more to know.
func (h *hub) askAbout(id stageID, known *run) {
	if !known.old(known.due, h.options.Film != nil) {
		known.of = known.due // so that it is compared only once
		return
	}
	known.asked = true
	h.queue = append(h.queue, id)
	select {
	case h.queued <- struct{}{}:
	default: // it looks already
	}
}

// runOf is what is known of a stage; nil where there is no room for more, because watchers see so many others.
func (h *hub) runOf(id stageID) *run {
	if h.runs[id] == nil && len(h.runs) >= h.most {
		unseen := func(id stageID) bool { return h.selected[id.deployment] == 0 }
		maps.DeleteFunc(h.runs, func(id stageID, _ *run) bool { return unseen(id) })
		h.queue = slices.DeleteFunc(h.queue, unseen)
	}
	if h.runs[id] == nil && len(h.runs) < h.most {
		h.runs[id] = &run{}
	}
	return h.runs[id]
}

// nextRun takes the stage that waits longest.
func (h *hub) nextRun() (r request, found bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.queue) == 0 {
		return request{}, false
	}
	id := h.queue[0]
	h.queue = h.queue[1:]
	return request{id, h.runs[id], h.runs[id].due}, true
}

// leaveRun notes that no one could be asked; with the next connection there is something to send, which asks again.
func (h *hub) leaveRun(r request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r.known.asked = false
}

// keepRun takes an answer, or notes that there was none.
func (h *hub) keepRun(r request, found drawn, failed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	known := r.known
	if h.runs[r.id] != known { // it was forgotten meanwhile
		return
	}
	known.asked, known.of, known.failed = false, r.of, failed
	h.askAbout(r.id, known) // again if the stage has changed meanwhile
	if failed || reflect.DeepEqual(known.drawn, found) {
		return
	}
	known.drawn = found
	h.runsAt++
	h.wake()
}
