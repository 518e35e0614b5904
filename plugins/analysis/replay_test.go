// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"sync"
	"testing"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

func TestAnswersAreThoseOfPipeCDsPlugin(t *testing.T) {
	t.Parallel()
	s := newServer(t, always(1))
	c, done := newManualClock(), make(chan struct{})
	var moving sync.WaitGroup
	moving.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(time.Millisecond):
				c.advance(time.Second / 10)
			}
		}
	})
	defer moving.Wait()
	defer close(done)
	wiretest.Start(t, sdk.ForStages(&plugin{clock: c.clock()}),
		wiretest.Options{Name: "analysis", Config: configured(s.URL)}).Replay(t,
		"../../api/testdata/recordings/b1-analysis.jsonl", t.TempDir())
}
