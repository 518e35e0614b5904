// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

const (
	// defaultInterval is the time between two looks for drift.
	defaultInterval = 10 * time.Minute
	// maxWatched bounds the applications whose sightings are kept.
	maxWatched = 1000
)

// watch keeps what was found of applications until it is time to look again.
type watch struct {
	interval time.Duration
	changes  *sdk.LivestateChanges

	mu   sync.Mutex
	kept map[string]kept
	// changed counts what stages have changed, by application: a number for each.
	changed map[string]int
	stop    context.CancelFunc
	running sync.WaitGroup
}

type kept struct {
	key  string
	at   time.Time
	seen *sighting
}

func newWatch() *watch {
	return &watch{interval: defaultInterval, changes: sdk.NewLivestateChanges(), kept: map[string]kept{},
		changed: map[string]int{}}
}

// start has the applications that were seen reported at each interval.
func (w *watch) start(interval time.Duration) {
	if interval > 0 {
		w.interval = interval
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.stop = cancel
	w.running.Go(func() {
		tick := time.NewTicker(max(w.interval/4, time.Second))
		defer tick.Stop()
		for {
			select {
			case now := <-tick.C:
				w.remind(now)
			case <-ctx.Done():
				return
			}
		}
	})
}

func (w *watch) close() {
	if w.stop != nil {
		w.stop()
	}
	w.running.Wait()
}

// remind reports the applications whose sightings are old.
func (w *watch) remind(now time.Time) {
	w.mu.Lock()
	var old []string
	for id, k := range w.kept {
		if now.Sub(k.at) >= w.interval {
			old = append(old, id)
			delete(w.kept, id)
		}
	}
	w.mu.Unlock()
	for _, id := range old {
		w.changes.Mark(id)
	}
}

func (w *watch) get(applicationID, key string) (*sighting, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k, is := w.kept[applicationID]
	return k.seen, is && k.key == key && time.Since(k.at) < w.interval
}

// generation is to be taken before a look, and given to put.
func (w *watch) generation(applicationID string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed[applicationID]
}

// put keeps a sighting, unless a stage has changed something meanwhile.
func (w *watch) put(applicationID, key string, generation int, seen *sighting) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.changed[applicationID] != generation || len(w.kept) >= maxWatched {
		return
	}
	w.kept[applicationID] = kept{key, time.Now(), seen}
}

// mark says that a stage has changed the application.
func (w *watch) mark(applicationID string) {
	w.mu.Lock()
	w.changed[applicationID]++
	delete(w.kept, applicationID)
	w.mu.Unlock()
	w.changes.Mark(applicationID)
}
