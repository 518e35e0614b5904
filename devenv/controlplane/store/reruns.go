// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"sync"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

// maxOpenReruns bounds the re-runs of stages that users wait for at the same time.
const maxOpenReruns = 32

// Reruns brings users who want a stage executed once more together with its piped. It keeps nothing.
type Reruns struct {
	pipeds *Pipeds

	mu   sync.Mutex
	last uint64
	open map[uint64]*Rerun
}

// Rerun is one that a user waits for.
type Rerun struct {
	reruns   *Reruns
	id       uint64
	pipedID  string
	messages chan *agentv1.ReportStageRerunRequest
	// reported is closed when the report is whole, or its piped is gone.
	reported chan struct{}
	closed   chan struct{}
	finish   func()
}

func newReruns(pipeds *Pipeds) *Reruns { return &Reruns{pipeds: pipeds, open: map[uint64]*Rerun{}} }

// Ask asks a piped to execute a stage once more. The caller closes the re-run. connected is false while the piped is
// not connected; FailedPrecondition when it cannot do it, ResourceExhausted with too many.
func (r *Reruns) Ask(pipedID, deploymentID, stageID string) (_ *Rerun, connected bool, err error) {
	if !r.pipeds.signals.connected(pipedID) {
		return nil, false, precondition("piped is not connected; see what it does with: pipedeck status")
	}
	if !r.pipeds.able(pipedID).RerunsStages {
		return nil, true, precondition("this piped cannot re-run stages; use the piped of this pipedeck")
	}
	one, err := r.add(pipedID)
	if err != nil {
		return nil, true, err
	}
	if !r.pipeds.signals.rerun(pipedID, &agentv1.StageRerun{Id: one.id, DeploymentId: deploymentID, StageId: stageID}) {
		one.Close()
		return nil, true, exhausted("too many re-runs wait for piped already")
	}
	return one, true, nil
}

func (r *Reruns) add(pipedID string) (*Rerun, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.open) >= maxOpenReruns {
		return nil, exhausted("%d re-runs of stages are open already", len(r.open))
	}
	r.last++
	one := &Rerun{reruns: r, id: r.last, pipedID: pipedID, messages: make(chan *agentv1.ReportStageRerunRequest),
		reported: make(chan struct{}), closed: make(chan struct{})}
	one.finish = sync.OnceFunc(func() { close(one.reported) })
	r.open[one.id] = one
	return one, nil
}

// Rerun returns an open re-run of the piped; nil for none.
func (r *Reruns) Rerun(id uint64, pipedID string) *Rerun {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.open[id]; one != nil && one.pipedID == pipedID {
		return one
	}
	return nil
}

// Close says that no one waits any longer.
func (r *Rerun) Close() {
	r.reruns.mu.Lock()
	defer r.reruns.mu.Unlock()
	if r.reruns.open[r.id] == r {
		delete(r.reruns.open, r.id)
		close(r.closed)
	}
}

// Closed is closed when no one waits any longer.
func (r *Rerun) Closed() <-chan struct{} { return r.closed }

// Give hands a message over. It waits for the user; false when there is none any longer.
func (r *Rerun) Give(ctx context.Context, message *agentv1.ReportStageRerunRequest) bool {
	select {
	case r.messages <- message:
		return true
	case <-r.closed:
	case <-ctx.Done():
	}
	return false
}

// Finish says that the report is whole.
func (r *Rerun) Finish() { r.finish() }

// Next returns the next message; false when the report is whole or ctx has ended.
func (r *Rerun) Next(ctx context.Context) (*agentv1.ReportStageRerunRequest, bool) {
	select {
	case message := <-r.messages:
		return message, true
	case <-r.reported:
	case <-ctx.Done():
	}
	return nil, false
}
