// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/page"
)

// BenchmarkEventToWatcher is the time from an event of the deck API to its bytes at a watcher, after a pause: two
// connections over loopback are in it.
func BenchmarkEventToWatcher(b *testing.B) {
	s := serveWith(b, page.Options{}, decktest.Shop()...)
	tab := s.watch(s.browser(), nil)
	_, _ = until(tab, "state", synced)
	var sum time.Duration
	for i := range b.N {
		time.Sleep(60 * time.Millisecond) // the pause
		app := decktest.Synced()
		app.Id, app.Name, app.SyncReason = "mail", "mail", fmt.Sprint("change ", i)
		began := time.Now()
		s.deck.Publish(app)
		for !strings.Contains(tab.next("state").data, app.SyncReason+`"`) {
		}
		sum += time.Since(began)
	}
	b.ReportMetric(float64(sum.Microseconds())/float64(b.N)/1000, "ms/event")
}
