// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/page"
)

// asks returns the next call for the run of a stage.
func (s *stage) asks() asked {
	s.t.Helper()
	select {
	case one := <-s.runs:
		return one
	case <-time.After(patience):
		require.FailNow(s.t, "no stage is asked about")
		return asked{}
	}
}

// asksFor waits for the calls for these stages, in any order.
func (s *stage) asksFor(stages ...string) {
	s.t.Helper()
	var got []string
	for range stages {
		got = append(got, s.asks().GetStageId())
	}
	require.ElementsMatch(s.t, stages, got)
}

// measured is a run with one chart.
var measured = &deckv1.GetStageRunResponse{Metadata: map[string]string{
	"pipedeck/analysis-series": `[{"name":"errors","points":[{"value":1}]}]`}}

func TestOnlyAStageThatRunsOrHasChangedIsAskedAboutAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	tab := s.watch(s.browser(), url.Values{"deployment": {"dep-c"}})
	s.asksFor("build", "unit", "lint", "scan", "approve", "deploy-eu", "deploy-us")

	d := decktest.Checkout()
	d.Stages[6].Progress.Done = 2
	s.deck.Publish(d)
	eu, us := s.asks(), s.asks()
	require.Equal(t, []string{"deploy-eu", "deploy-us"}, []string{eu.GetStageId(), us.GetStageId()})
	require.True(t, eu.GetWithoutCalls(), "nothing of the calls is shown")
	require.Equal(t, eu.changed, us.changed, "an answer as before wakes no stream")

	d.Stages[4].Display = "Approved by: alice, bob, carol"
	s.deck.Run("approve", measured)
	s.deck.Publish(d)
	s.asksFor("approve", "deploy-eu", "deploy-us")
	_, _ = until(tab, "deployment", func(d page.Detail) bool { return len(d.Charts) == 1 })
}

func TestAStageThatChangesWhileItIsAskedAboutIsAskedAboutAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	tab := s.watch(s.browser(), url.Values{"deployment": {"dep-c"}})
	s.asksFor("build", "unit", "lint", "scan", "approve", "deploy-eu", "deploy-us")
	hold := make(chan struct{})
	s.hold.Store(&keptBack{"deploy-eu", hold})
	d := decktest.Checkout()
	s.deck.Publish(d)
	require.Equal(t, "deploy-eu", s.asks().GetStageId())
	d.Stages[5].Status, d.Stages[5].CompletedAt = deckv1.StageStatus_STAGE_STATUS_SUCCESS, decktest.At(32)
	s.deck.Publish(d)
	_, _ = until(tab, "deployment", func(d page.Detail) bool {
		return len(d.Stages) > 5 && d.Stages[5].Status == "SUCCESS"
	})
	s.deck.Run("deploy-eu", measured)
	close(hold)
	_, _ = until(tab, "deployment", func(d page.Detail) bool { return len(d.Charts) == 1 })
}

// still is a recorded session that stands at its beginning.
type still struct{}

func (still) Playback() page.Playback { return page.Playback{LengthSeconds: 160, Speed: 1} }

func (still) Changed() <-chan struct{} { return nil }

func (still) Now() time.Time { return decktest.Now() }

// The last run of a stage was recorded after the stage had ended.
func TestARecordedStageIsAskedAboutAgainAfterItsEnd(t *testing.T) {
	t.Parallel()
	s := serveWith(t, page.Options{Film: still{}}, decktest.Shop()...)
	tab := s.watch(s.browser(), url.Values{"deployment": {"dep-c"}})
	s.asksFor("build", "unit", "lint", "scan", "approve", "deploy-eu", "deploy-us")
	s.deck.Run("build", measured)
	s.deck.Publish(decktest.Checkout())
	_, _ = until(tab, "deployment", func(d page.Detail) bool { return len(d.Charts) == 1 })
}

func TestWatchersTakeNoStagesFromEachOther(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	s.server.ShortenRuns(3)
	browser := s.browser()
	first := s.watch(browser, url.Values{"deployment": {"dep-c"}})
	s.asksFor("build", "unit", "lint")
	second := s.watch(browser, url.Values{"deployment": {"dep-s"}})
	_, _ = until(second, "deployment", func(d page.Detail) bool { return len(d.Stages) > 0 })

	d := decktest.Checkout()
	d.Stages[2].Display = "no finding"
	s.deck.Publish(d)
	one := s.asks()
	require.Equal(t, []string{"dep-c", "lint"}, []string{one.GetDeploymentId(), one.GetStageId()},
		"neither those beyond the bound nor those of the other watcher")
	first.close()
	require.Equal(t, "dep-s", s.asks().GetDeploymentId(), "there is room now")
}
