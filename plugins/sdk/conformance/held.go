// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"time"
)

// pending is a stage that is under way.
type pending struct {
	id     string
	cancel context.CancelFunc
	gate   *gate
	// ended gets the execution once.
	ended chan *execution
	// silent says that it did not come to where it is held up within the run limit.
	silent bool
	// lull is that in which the stage is; nil when it is held up at a request.
	lull *lull
}

// hold begins to execute the stage, and holds it up at its first request to piped until the gate is released. The
// caller calls finish.
func (p *probe) hold(x *session, o order) (*pending, error) {
	if o.id == "" {
		o.id = p.suite.newID()
	}
	if o.context == nil {
		o.context = p.ctx
	}
	ctx, cancel := context.WithCancel(o.context)
	o.context = ctx
	held := &pending{id: o.id, cancel: cancel, gate: x.rec.hold(o.id), ended: make(chan *execution, 1)}
	held.gate.free, held.gate.only = o.free, o.holds
	held.run(p, x, o)
	limit := time.NewTimer(p.suite.options.RunLimit)
	defer limit.Stop()
	select {
	case <-held.gate.begun:
		return held, nil
	case <-limit.C:
		held.silent = true
		return held, nil
	case e := <-held.ended:
		held.ended <- e
		return held, nil
	case <-ctx.Done():
		held.finish()
		return nil, context.Cause(ctx)
	}
}

// run executes the stage, and returns when its call has begun: what is timed from then on is the stage, and not another
// one that has the deploy targets.
func (h *pending) run(p *probe, x *session, o order) {
	o.sent = make(chan struct{})
	go func() {
		e, _ := x.execute(p, o) // the only error is that of p.ctx
		h.ended <- e
	}()
	select {
	case <-o.sent:
	case e := <-h.ended:
		h.ended <- e
	case <-o.context.Done():
	}
}

// begun is whether the stage has asked piped for something, and still runs.
func (h *pending) begun() bool {
	if h.silent {
		return false
	}
	select {
	case e := <-h.ended:
		h.ended <- e
		return false
	default:
		return true
	}
}

// finish cancels the stage when it still runs, and waits for its call.
func (h *pending) finish() *execution {
	h.gate.release()
	h.cancel()
	e := <-h.ended
	h.ended <- e
	return e
}

// whileHeld calls act while a stage waits for piped.
func (p *probe) whileHeld(x *session, act func() error) error {
	held, err := p.hold(x, order{})
	if err != nil {
		return err
	}
	defer held.finish()
	if !held.begun() {
		return skip("the stage ends without a request to piped, by which it could be held up")
	}
	return act()
}

// begin is hold without a wait for the first request.
func (p *probe) begin(x *session, o order) (*pending, error) {
	if o.id == "" {
		o.id = p.suite.newID()
	}
	ctx, cancel := context.WithCancel(p.ctx)
	o.context = ctx
	held := &pending{id: o.id, cancel: cancel, gate: x.rec.hold(o.id), ended: make(chan *execution, 1)}
	held.gate.free, held.gate.only = o.free, o.holds
	held.run(p, x, o)
	return held, p.ctx.Err()
}
