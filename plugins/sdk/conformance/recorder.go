// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
)

// maxCalls bounds the calls of a session that are kept.
const maxCalls = 50_000

// call is one request of the plugin to piped.
type call struct {
	method, stage, deployment string
	request                   proto.Message
	size                      int
	at                        time.Time
	// late is set for a request about a stage that had answered.
	late bool
}

// recorder keeps what a plugin asks piped for, and can hold it up.
type recorder struct {
	mu       sync.Mutex
	calls    []call
	asked    map[string]string // stage id → deployment id
	answered map[string]bool
	gates    map[string]*gate
	invalid  []string

	// fail, when set, is the answer to a request, before it is looked at; nil lets it pass.
	fail func(c call) error
}

// gate holds up requests about a stage.
type gate struct {
	begun, open chan struct{}
	once        sync.Once
	opened      sync.Once
	// free is how many requests pass before.
	free int
	// only, when set, says which requests are held up.
	only func(call) bool
}

func (g *gate) release() { g.opened.Do(func() { close(g.open) }) }

func newRecorder() *recorder {
	return &recorder{asked: map[string]string{}, answered: map[string]bool{}, gates: map[string]*gate{}}
}

// hold returns a gate, at which requests about a stage wait until it is released.
func (r *recorder) hold(stage string) *gate {
	g := &gate{begun: make(chan struct{}), open: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gates[stage] = g
	return g
}

// each is standin.Options.Each.
func (r *recorder) each(ctx context.Context, method string, request proto.Message) error {
	c := call{method: method, request: request, size: proto.Size(request), at: time.Now()}
	if about, ok := request.(interface{ GetStageId() string }); ok {
		c.stage = about.GetStageId()
	}
	if about, ok := request.(interface{ GetDeploymentId() string }); ok {
		c.deployment = about.GetDeploymentId()
	}
	r.mu.Lock()
	c.late = c.stage != "" && r.answered[c.stage]
	if len(r.calls) < maxCalls {
		r.calls = append(r.calls, c)
	}
	g, fail := r.gates[c.stage], r.fail
	switch {
	case g == nil:
	case g.free > 0:
		g.free--
		g = nil
	case g.only != nil && !g.only(c):
		g = nil
	}
	r.mu.Unlock()
	if about, ok := request.(interface{ GetKey() string }); ok && about.GetKey() == "pipedeck/stop" {
		g = nil // a plugin waits for the reason of a cancel for a moment alone
	}
	if g != nil {
		g.once.Do(func() { close(g.begun) })
		select {
		case <-g.open:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if fail != nil {
		return fail(c)
	}
	return nil
}

// refused is standin.Options.Invalid.
func (r *recorder) refused(method string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.invalid) < maxCalls {
		r.invalid = append(r.invalid, fmt.Sprintf("%s: %s", lastPart(method), err))
	}
}

// begin notes that a stage is asked for, end that it has answered.
func (r *recorder) begin(stage, deployment string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked[stage] = deployment
	delete(r.answered, stage)
}

func (r *recorder) end(stage string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered[stage] = true
}

// about returns the calls that satisfy the condition.
func (r *recorder) about(condition func(call) bool) []call {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []call
	for _, c := range r.calls {
		if condition(c) {
			found = append(found, c)
		}
	}
	return found
}

// of returns the calls about a stage.
func (r *recorder) of(stage string) []call {
	return r.about(func(c call) bool { return c.stage == stage })
}

func (r *recorder) invalids() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.invalid)
}

// stray returns the calls about stages that were not asked for in that deployment.
func (r *recorder) stray() []call {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []call
	for _, c := range r.calls {
		if c.stage == "" {
			continue
		}
		if deployment, asked := r.asked[c.stage]; !asked || c.deployment != deployment {
			found = append(found, c)
		}
	}
	return found
}
