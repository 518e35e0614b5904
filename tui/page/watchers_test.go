// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/page"
)

func TestASlowWatcherHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	browser := s.browser()
	quick := s.watch(browser, nil)
	_, last := until(quick, "state", synced)

	slow, err := net.Dial("tcp", s.web.Listener.Addr().String())
	require.NoError(t, err)
	defer slow.Close()
	require.NoError(t, slow.(*net.TCPConn).SetReadBuffer(256<<10))
	cookie := browser.Jar.Cookies(answerURL(t, s))[0]
	_, err = fmt.Fprintf(slow, "GET /events?cursor=%s HTTP/1.0\r\nHost: localhost\r\nCookie: %s\r\n\r\n",
		last.id, cookie)
	require.NoError(t, err)
	_, _ = until(quick, "watchers", func(w page.Watchers) bool { return w.Watching == 2 })

	const changes = 16 // which are more than the ring and the buffers of the system hold
	for i := range changes {
		app := decktest.Synced()
		app.Id, app.Name, app.SyncReason = "mail", "mail", fmt.Sprint(i, strings.Repeat("x", 1_500_000))
		s.deck.Publish(app)
		_, _ = until(quick, "state", func(state page.State) bool {
			return len(state.Applications) == 1 && strings.HasPrefix(state.Applications[0].Reason, fmt.Sprint(i, "x"))
		})
	}
	events := make(chan event, 10_000)
	var reading sync.WaitGroup
	reading.Go(func() {
		defer close(events)
		read(slow, "", events)
	})
	late := &tab{t: t, events: events}
	var reset page.Reset
	late.next("reset").into(t, &reset)
	require.NotEmpty(t, reset.Reason)
	state, _ := until(late, "state", whatever[page.State])
	require.True(t, state.Whole)
	require.Len(t, state.Applications, 6)
	s.end(nil)
	reading.Wait()
}

func TestManyWatchersSeeTheSameAndNoMoreThanTheBound(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	s.deck.Log("deploy-eu", info, numbered(0, 10)...)
	browser := s.browser()
	tabs := make([]*tab, 50)
	for i := range tabs {
		tabs[i] = s.watch(browser, logOf("deploy-eu"))
	}
	count, changed := s.server.Watching()
	require.Equal(t, len(tabs), count)
	s.deck.Publish(decktest.CheckoutFailed())
	s.deck.Log("deploy-eu", info, numbered(10, 20)...)
	s.deck.CompleteLog("deploy-eu")
	var watching sync.WaitGroup
	for _, tab := range tabs {
		watching.Go(func() {
			next, complete, failed := 0, false, false
			for e := range tab.events {
				switch e.kind {
				case "log":
					var log page.Log
					e.into(t, &log)
					if log.From != next {
						t.Errorf("lines from %d, not %d", log.From, next)
					}
					next, complete = next+len(log.Lines), log.Complete
				case "deployment":
					failed = failed || strings.Contains(e.data, `"look":"failed"`)
				}
				if complete && failed && next == 20 {
					return
				}
			}
			t.Error("the stream has ended before everything had come")
		})
	}
	watching.Wait()

	for range page.MaxWatchers - len(tabs) {
		s.watch(browser, nil)
	}
	answer, reason := ask(t, browser, http.MethodGet, s.web.URL+"/events", "")
	require.Equal(t, http.StatusServiceUnavailable, answer.StatusCode)
	require.Contains(t, reason, "200 people watch already")
	tabs[0].close()
	<-changed
	for count, changed = s.server.Watching(); count == page.MaxWatchers; count, changed = s.server.Watching() {
		<-changed
	}
	s.watch(browser, nil)
}
