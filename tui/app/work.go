// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"runtime/debug"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// work owns what runs next to the model. Bubble Tea does not wait for commands; work does.
type work struct {
	ctx    context.Context
	cancel context.CancelFunc
	// crashed gets panics.
	crashed func(error)

	mu      sync.Mutex
	stopped bool
	running sync.WaitGroup
}

func newWork(ctx context.Context) *work {
	ctx, cancel := context.WithCancel(ctx)
	return &work{ctx: ctx, cancel: cancel}
}

// do makes a command of f. Its context ends with the UI.
func (w *work) do(f func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg {
		if !w.begin() {
			return nil
		}
		defer w.running.Done()
		defer w.recover()
		return f(w.ctx)
	}
}

// spawn runs f at once.
func (w *work) spawn(f func(ctx context.Context)) {
	if !w.begin() {
		return
	}
	go func() {
		defer w.running.Done()
		defer w.recover()
		f(w.ctx)
	}()
}

// recover reports a panic; without a receiver it goes on.
func (w *work) recover() {
	if w.crashed == nil {
		return
	}
	if r := recover(); r != nil {
		w.crashed(&PanicError{Value: r, Stack: debug.Stack()})
	}
}

func (w *work) begin() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return false
	}
	w.running.Add(1)
	return true
}

// stop ends everything and waits for it.
func (w *work) stop() {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	w.cancel()
	w.running.Wait()
}
