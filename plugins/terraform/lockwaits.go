// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// lockWaits shows for whom a stage waits, at any of its deploy targets, as the one text of the stage.
type lockWaits struct {
	client sdk.StageClient
	// several is whether the text has to name targets.
	several bool

	mu sync.Mutex
	// owners are those of the locks that are waited for, by deploy target.
	owners map[string]string
}

func newLockWaits(req *executeRequest) *lockWaits {
	return &lockWaits{client: req.Client, several: len(req.Targets) > 1, owners: map[string]string{}}
}

// begin shows that the stage waits for the lock of owner at a deploy target, and returns what to call when it does not
// any more, which also holds when ctx has ended.
func (w *lockWaits) begin(ctx context.Context, target, owner string) (over func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owners[target] = owner
	w.show(ctx)
	return func() {
		lasting, cancel := afterwards(ctx)
		defer cancel()
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.owners, target)
		w.show(lasting)
	}
}

// show is called with mu held, so that the last text is what is so.
func (w *lockWaits) show(ctx context.Context) {
	text := ""
	if len(w.owners) > 0 {
		text = "Waiting for the lock of " + w.who()
	}
	_ = w.client.Display(ctx, text) // the log says it, too
}

// who is "bob", or "bob (east), ann (west)" for a stage with several deploy targets.
func (w *lockWaits) who() string {
	var list []string
	for _, target := range slices.Sorted(maps.Keys(w.owners)) {
		owner := w.owners[target]
		if w.several {
			owner += " (" + target + ")"
		}
		list = append(list, owner)
	}
	return strings.Join(list, ", ")
}
