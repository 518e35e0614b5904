// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package engine

import "context"

// Finder looks for the engine once and remembers what it found; several may ask at the same time.
type Finder struct {
	run    Command
	chosen string
	// turn holds one element while no one asks.
	turn   chan struct{}
	asked  bool
	engine *Engine
	err    error
}

// NewFinder returns a Finder with the arguments of Find.
func NewFinder(run Command, chosen string) *Finder {
	f := &Finder{run: run, chosen: chosen, turn: make(chan struct{}, 1)}
	f.turn <- struct{}{}
	return f
}

// Find is the function Find. Whoever asks first waits for the engine, the others for the first.
func (f *Finder) Find(ctx context.Context) (*Engine, error) {
	select {
	case <-f.turn:
		defer func() { f.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if f.asked {
		return f.engine, f.err
	}
	found, err := Find(ctx, f.run, f.chosen)
	if ctx.Err() != nil {
		// Someone lost patience, which says nothing of the engine.
		return nil, context.Cause(ctx)
	}
	f.engine, f.err, f.asked = found, err, true
	return found, err
}
