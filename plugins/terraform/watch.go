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
	// parts is how often an interval is looked at: so much of it, drift is found earlier than the interval says.
	parts = 60
	// minTick bounds how often that is.
	minTick = 100 * time.Millisecond
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
	// old says that it was reported that it is time to look again.
	old bool
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
		tick := time.NewTicker(w.tick())
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

func (w *watch) tick() time.Duration { return max(w.interval/parts, minTick) }

// fresh is whether it is too early to look again: when the next tick is still within the interval.
func (w *watch) fresh(k kept, now time.Time) bool {
	return !k.old && now.Sub(k.at) < w.interval-w.tick()
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
		if !k.old && !w.fresh(k, now) {
			old = append(old, id)
			k.old = true
			w.kept[id] = k
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
	return k.seen, is && k.key == key && w.fresh(k, time.Now())
}

// before is the last sighting, however old; nil for none of that.
func (w *watch) before(applicationID, key string) *sighting {
	w.mu.Lock()
	defer w.mu.Unlock()
	if k, is := w.kept[applicationID]; is && k.key == key {
		return k.seen
	}
	return nil
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
	if w.changed[applicationID] != generation {
		return
	}
	if _, is := w.kept[applicationID]; !is && len(w.kept) >= maxWatched {
		w.forgetOldest()
	}
	w.kept[applicationID] = kept{key: key, at: time.Now(), seen: seen}
}

// forgetOldest makes room; an application that is gone is the oldest one some time. It is called with mu held.
func (w *watch) forgetOldest() {
	oldest := ""
	for id, k := range w.kept {
		if oldest == "" || k.at.Before(w.kept[oldest].at) {
			oldest = id
		}
	}
	delete(w.kept, oldest)
}

// mark says that a stage has changed the application.
func (w *watch) mark(applicationID string) {
	w.mu.Lock()
	w.changed[applicationID]++
	delete(w.kept, applicationID)
	w.mu.Unlock()
	w.changes.Mark(applicationID)
}
