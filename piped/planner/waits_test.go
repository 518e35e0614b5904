// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/clock"
)

func TestAPluginThatAPlanWaitsForIsReportedAfterFiveSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var reports []Wait
		report := func(wait Wait) {
			mu.Lock()
			defer mu.Unlock()
			reports = append(reports, wait)
		}
		w := &waits{
			clock: clock.System{}, report: report,
			changed: make(chan struct{}, 1), done: make(chan struct{}),
		}
		w.ended.Go(w.run)
		pass := func(d time.Duration) []Wait {
			time.Sleep(d)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(reports)
		}
		began := time.Now()
		end := w.begin("greeter")
		require.Empty(t, pass(3*time.Second))
		end()
		end = w.begin("greeter") // the next question
		require.Empty(t, pass(time.Second))
		require.Equal(t, []Wait{{"greeter", began}}, pass(time.Second), "both are one wait")
		inner := w.begin("other")
		inner()
		require.Len(t, pass(time.Minute), 1, "the first one counts, and is reported once")
		end()
		require.Equal(t, Wait{}, pass(0)[1], "it is over")

		pass(time.Minute) // as for a checkout
		end = w.begin("greeter")
		require.Len(t, pass(4*time.Second), 2, "another wait")
		end()
		end = w.begin("other")
		require.Len(t, pass(2*time.Second), 2)
		require.Equal(t, "other", pass(3 * time.Second)[2].Plugin)
		close(w.done)
		w.ended.Wait()
		end()
		require.Equal(t, Wait{}, reports[3], "the plan has ended")
	})
}
