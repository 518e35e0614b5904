// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/page"
)

const info = deckv1.Severity_SEVERITY_INFO

// numbered are the lines [from, to).
func numbered(from, to int) (lines []string) {
	for i := from; i < to; i++ {
		lines = append(lines, fmt.Sprint("line ", i))
	}
	return lines
}

// logOf selects the log of a stage.
func logOf(stage string, more ...string) url.Values {
	q := url.Values{"deployment": {"dep-c"}, "stage": {stage}}
	for i := 0; i < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	return q
}

func whatever[T any](T) bool { return true }

func TestALogBeginsWithItsLastLines(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	s.deck.Log("deploy-eu", info, numbered(0, 3000)...)
	browser := s.browser()
	tab := s.watch(browser, logOf("deploy-eu"))
	log, at := until(tab, "log", whatever[page.Log])
	require.Equal(t, 2500, log.From)
	require.Len(t, log.Lines, 500)
	require.Equal(t, 3000, log.Next)
	require.Equal(t, page.Line{Severity: "INFO", Level: "normal", Text: "line 2500"}, log.Lines[0])

	s.deck.Log("deploy-eu", deckv1.Severity_SEVERITY_ERROR, "\x1b[31mERROR\x1b[0m no <b>route</b>")
	log, _ = until(tab, "log", whatever[page.Log])
	require.Equal(t, 3000, log.From)
	require.Equal(t, []page.Line{{Severity: "ERROR", Level: "failure", Text: "ERROR no <b>route</b>"}}, log.Lines)
	require.False(t, log.Complete)
	s.deck.CompleteLog("deploy-eu")
	log, _ = until(tab, "log", func(l page.Log) bool { return l.Complete })
	require.Empty(t, log.Lines)

	lines := s.web.URL + "/log?"
	answer, body := ask(t, browser, http.MethodGet, lines+logOf("deploy-eu", "from", "10", "to", "12").Encode(), "")
	require.Equal(t, http.StatusOK, answer.StatusCode)
	require.NoError(t, json.Unmarshal([]byte(body), &log))
	require.Equal(t, 10, log.From)
	require.Equal(t, "line 10", log.Lines[0].Text)
	require.Len(t, log.Lines, 2)
	answer, _ = ask(t, browser, http.MethodGet, lines+logOf("deploy-eu", "from", "9", "to", "x").Encode(), "")
	require.Equal(t, http.StatusBadRequest, answer.StatusCode)

	resumed := s.watch(browser, logOf("deploy-eu", "cursor", at.id))
	log, _ = until(resumed, "log", whatever[page.Log])
	require.Equal(t, 3000, log.From, "after the last event")
	by := s.watch(browser, logOf("deploy-eu", "line", "2990"))
	log, _ = until(by, "log", whatever[page.Log])
	require.Equal(t, 2990, log.From, "from the line that the tab has asked for")
}

func TestALongLogIsReadInPages(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	s.deck.Log("build", info, numbered(0, 10_000)...)
	s.deck.CompleteLog("build")
	browser := s.browser()
	for from := 0; from < 10_000; {
		_, body := ask(t, browser, http.MethodGet,
			s.web.URL+"/log?"+logOf("build", "from", fmt.Sprint(from), "to", "10000").Encode(), "")
		var log page.Log
		require.NoError(t, json.Unmarshal([]byte(body), &log))
		require.Equal(t, from, log.From)
		require.Len(t, log.Lines, 2000)
		require.Equal(t, fmt.Sprint("line ", from), log.Lines[0].Text)
		from += len(log.Lines)
	}
}

func TestALogGoesOnAfterALostConnectionWithoutTheSameLinesAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	s.deck.Log("deploy-eu", info, numbered(0, 5)...)
	tab := s.watch(s.browser(), logOf("deploy-eu"))
	log, _ := until(tab, "log", whatever[page.Log])
	require.Len(t, log.Lines, 5)
	s.deck.RefuseLogs(status.Error(codes.FailedPrecondition, "no such log"))
	s.deck.Break()
	log, _ = until(tab, "log", func(l page.Log) bool { return l.Error != "" })
	require.Equal(t, "no such log", log.Error)
	s.deck.RefuseLogs(nil)
	s.deck.Log("deploy-eu", info, "line 5")
	log, _ = until(tab, "log", func(l page.Log) bool { return len(l.Lines) > 0 })
	require.Equal(t, 5, log.From)
	require.Equal(t, "line 5", log.Lines[0].Text)
	require.Empty(t, log.Error)
}

func TestTheLogOfAStageThatRunsAgainGoesOn(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	s.deck.Log("deploy-eu", info, "first attempt")
	s.deck.CompleteLog("deploy-eu")
	failed := decktest.CheckoutFailed()
	s.deck.Publish(failed)
	tab := s.watch(s.browser(), logOf("deploy-eu"))
	_, _ = until(tab, "log", func(l page.Log) bool { return l.Complete })
	s.deck.ReopenLog("deploy-eu")
	s.deck.Log("deploy-eu", info, "second attempt")
	s.deck.Publish(decktest.Checkout())
	log, _ := until(tab, "log", func(l page.Log) bool { return len(l.Lines) > 0 })
	require.Equal(t, 1, log.From)
	require.Equal(t, "second attempt", log.Lines[0].Text)
	require.False(t, log.Complete)
}

func TestACompleteLogIsReadOnceUntilAnotherAttemptBegins(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	browser := s.browser()
	_, _ = until(s.watch(browser, nil), "state", synced)
	s.deck.Log("deploy-eu", info, "first attempt")
	s.deck.CompleteLog("deploy-eu") // while the stage still runs
	tab := s.watch(browser, logOf("deploy-eu"))
	_, _ = until(tab, "log", func(l page.Log) bool { return l.Complete })
	for done := range int64(4) { // the stage changes, but it is the same attempt
		changed := decktest.Checkout()
		changed.Stages[5].Progress.Done = done
		s.deck.Publish(changed)
		_, _ = until(tab, "deployment", func(d page.Detail) bool { return d.Stages[5].Progress.Done == done })
	}
	require.EqualValues(t, 1, s.logReads.Load())

	s.deck.ReopenLog("deploy-eu")
	s.deck.Log("deploy-eu", info, "second attempt")
	again := decktest.Checkout()
	again.Stages[5].Retries = 1
	s.deck.Publish(again)
	log, _ := until(tab, "log", func(l page.Log) bool { return len(l.Lines) > 0 })
	require.Equal(t, "second attempt", log.Lines[0].Text)
	require.EqualValues(t, 2, s.logReads.Load())
}

func TestALogForWhichThereIsNoRoomComesLater(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	s.deck.Log("deploy-eu", info, "line 0")
	browser := s.browser()
	const room = 64
	tabs := make([]*tab, room)
	for i := range tabs {
		tabs[i] = s.watch(browser, logOf(fmt.Sprint("other-", i)))
		_, _ = until(tabs[i], "log", whatever[page.Log])
	}
	late := s.watch(browser, logOf("deploy-eu"))
	log, _ := until(late, "log", whatever[page.Log])
	require.Equal(t, "64 logs are read already; this one comes when a watcher leaves one of them", log.Error)
	require.Empty(t, log.Lines)
	tabs[0].close()
	log, _ = until(late, "log", whatever[page.Log])
	require.Empty(t, log.Error)
	require.Equal(t, "line 0", log.Lines[0].Text)
}
