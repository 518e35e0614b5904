// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"time"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
)

// pulsePause is the time between two questions whether a cluster answers: a server that hangs keeps its watches open
// and sends nothing.
const pulsePause = 10 * time.Second

// longestPulsePause is the time between them while it does not answer.
const longestPulsePause = 2 * time.Second

// doubt has the cluster asked at once whether it answers.
func (w *watched) doubt() {
	select {
	case w.doubts <- struct{}{}:
	default:
	}
}

// listen asks the cluster whether it answers until it is closed. When it does not answer any more, every application is
// marked: what is known of them may have ended.
func (w *watched) listen(pause time.Duration) {
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-w.doubts:
		case <-time.After(pause):
		}
		if w.client.Probe(w.ctx) == nil || w.ctx.Err() != nil {
			continue
		}
		w.markAll()
		pauses := cluster.Pauses(min(pause, longestPulsePause), longestPulsePause)
		for w.client.Probe(w.ctx) != nil {
			if cluster.Wait(w.ctx, pauses) != nil {
				return
			}
		}
	}
}

// markAll marks each application that has an object here.
func (w *watched) markAll() {
	seen := map[string]bool{}
	for _, i := range w.all() {
		for _, id := range i.applications() {
			if !seen[id] {
				seen[id] = true
				w.mark(id)
			}
		}
	}
}

// applications are those of the objects that a watch has seen.
func (i *informer) applications() []string {
	return i.shared.GetIndexer().ListIndexFuncValues(byApplication)
}
