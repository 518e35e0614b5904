// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func TestAPoolThatFillsIsNoLeak(t *testing.T) {
	t.Parallel()
	const begin = 29
	for _, c := range []struct {
		name string
		// grows is by how much a round grows, most what there may be.
		grows, most int
		pooled      bool
		want        State
	}{
		{"a pool that is full soon", 9, 50, true, Passed},
		{"a pool of 80", 9, 80, true, Passed},
		{"a pool that may not be full yet", 9, 1000, true, Noted},
		{"a thread for each other stage", 24, 1000, true, Failed},
		{"files", 9, 1000, false, Failed},
	} {
		now := begin
		kind := keptKind{what: "threads", pooled: c.pooled, count: func(*probe, *session) (int, bool) {
			return now, true
		}}
		ended, end := context.WithCancel(t.Context())
		end() // no pause waits
		p := &probe{ctx: ended, suite: &suite{}}
		of := pile{what: "cancelled stages", times: 48, some: 8, of: []keptKind{kind}}
		err := piles(p, &session{}, of, func() error {
			now = min(c.most, now+c.grows)
			return nil
		})
		if got, detail := outcome(err, ""); got != c.want {
			t.Errorf("%s: %s: %s, want %s", c.name, got, detail, c.want)
		}
	}
}

func TestEachThatGrowsInAllRoundsIsFound(t *testing.T) {
	t.Parallel()
	rounds := 0
	kinds := []keptKind{
		{what: "open files", count: func(*probe, *session) (int, bool) { return 40 + 10*min(1, rounds), true }},
		{what: "goroutines", count: func(*probe, *session) (int, bool) { return 10 + 48*rounds, true }},
	}
	ended, end := context.WithCancel(t.Context())
	end()
	err := piles(&probe{ctx: ended, suite: &suite{}}, &session{}, pile{what: "stages", times: 48, some: 8, of: kinds},
		func() error { rounds++; return nil })
	require.EqualError(t, err, "288 stages left 288 goroutines behind: 10 before, 298 after")
	failed := errors.New("the process has ended")
	err = piles(&probe{ctx: ended, suite: &suite{}}, &session{}, pile{some: 8, of: kinds},
		func() error { return failed })
	require.ErrorIs(t, err, failed)
}
