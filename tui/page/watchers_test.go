// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

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

	slow := s.unread(browser, "/events?cursor="+last.id)
	_, _ = until(quick, "watchers", func(w page.Watchers) bool { return w.Watching == 2 })

	s.server.ShortenRing()
	const changes = 16
	for i := range changes {
		app := decktest.Synced()
		app.Id, app.Name, app.SyncReason = "mail", "mail", fmt.Sprint(i, strings.Repeat("x", 100_000))
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

// unread asks for a path and reads nothing of the answer.
func (s *stage) unread(browser *http.Client, path string) net.Conn {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.web.Listener.Addr().String())
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = conn.Close() })
	require.NoError(s.t, conn.(*net.TCPConn).SetReadBuffer(smallBuffer))
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.0\r\nHost: localhost\r\nCookie: %s\r\n\r\n", path,
		browser.Jar.Cookies(answerURL(s.t, s))[0])
	require.NoError(s.t, err)
	return conn
}

func TestAWatcherWhoDoesNotReadALogHoldsNoPlace(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	for range 100 {
		s.deck.Log("deploy-eu", info, strings.Repeat("x", 10_000))
	}
	s.unread(s.browser(), "/log?"+logOf("deploy-eu", "from", "0", "to", "100").Encode())
	require.Eventually(t, func() bool { return s.logReads.Load() > 0 && s.server.OpenLogs() == 0 }, patience,
		time.Millisecond)
}

// timed is an answer that notes when its sending has to end.
type timed struct {
	*httptest.ResponseRecorder
	late time.Time
	// unbound: something was written before that was set.
	unbound bool
}

func (w *timed) SetWriteDeadline(late time.Time) error {
	w.late = late
	return nil
}

func (w *timed) WriteHeader(code int) {
	w.unbound = w.unbound || w.late.IsZero()
	w.ResponseRecorder.WriteHeader(code)
}

func (w *timed) Write(content []byte) (int, error) {
	w.unbound = w.unbound || w.late.IsZero()
	return w.ResponseRecorder.Write(content)
}

func TestEveryAnswerHasToBeReceivedInTime(t *testing.T) {
	t.Parallel()
	s := serve(t, decktest.Shop()...)
	s.deck.Log("deploy-eu", info, "line 0")
	cookie := s.browser().Jar.Cookies(answerURL(t, s))[0]
	lines := "/log?" + logOf("deploy-eu", "from", "0", "to", "1").Encode()
	for _, session := range []bool{true, false} {
		for _, path := range []string{"/", "/app.js", "/session", "/no-such", lines} {
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, nil)
			if session {
				r.AddCookie(cookie)
			}
			w := &timed{ResponseRecorder: httptest.NewRecorder()}
			s.server.ServeHTTP(w, r)
			require.False(t, w.unbound, path)
			require.WithinDuration(t, time.Now(), w.late, time.Minute, path)
		}
	}
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
