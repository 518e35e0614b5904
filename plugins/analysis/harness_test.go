// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/analysis/config"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// begin is when the clocks of tests begin.
var begin = time.Unix(1_800_000_000, 0)

// manualClock moves when the test says so.
type manualClock struct {
	mu     sync.Mutex
	time   time.Time
	timers map[chan time.Time]time.Time
	// last is the newest timer; nil once it has fired. An analysis waits for one at a time.
	last chan time.Time
}

func newManualClock() *manualClock {
	return &manualClock{time: begin, timers: map[chan time.Time]time.Time{}}
}

func (c *manualClock) clock() clock { return clock{now: c.now, after: c.after} }

func (c *manualClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

func (c *manualClock) after(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan time.Time, 1)
	if d <= 0 {
		ch <- c.time
		return ch
	}
	c.timers[ch], c.last = c.time.Add(d), ch
	return ch
}

// awaited reports whether an analysis waits for the clock. Else it has something to do, however long that takes on a
// busy machine, and time must stand still for it.
func (c *manualClock) awaited() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last != nil
}

// advance moves the clock and fires the timers that are due.
func (c *manualClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.time = c.time.Add(d)
	for ch, at := range c.timers {
		if !at.After(c.time) {
			delete(c.timers, ch)
			if ch == c.last {
				c.last = nil
			}
			ch <- c.time
		}
	}
}

// asked is a query as a server has received it.
type asked struct {
	query      string
	start, end time.Time
	step       time.Duration
}

// server speaks Prometheus' query API.
type server struct {
	*httptest.Server

	mu sync.Mutex
	// answer returns the values of one series; nil for no series.
	answer func(asked) []float64
	asked  []asked
	// refused is a query that is not answered.
	refused string
}

func newServer(t *testing.T, answer func(asked) []float64) *server {
	t.Helper()
	s := &server{answer: answer}
	s.Server = httptest.NewServer(http.HandlerFunc(s.handle))
	t.Cleanup(s.Close)
	return s
}

func (s *server) handle(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/api/v1/query_range" || r.Method != http.MethodPost {
		http.NotFound(w, r)
		return
	}
	one := asked{query: r.FormValue("query"), start: unix(r.FormValue("start")), end: unix(r.FormValue("end"))}
	seconds, _ := strconv.ParseFloat(r.FormValue("step"), 64)
	one.step = time.Duration(seconds * float64(time.Second))
	s.mu.Lock()
	s.asked = append(s.asked, one)
	answer, refused := s.answer, s.refused
	s.mu.Unlock()
	if refused != "" && one.query == refused {
		http.Error(w, "no", http.StatusServiceUnavailable)
		return
	}
	values := answer(one)
	result := []any{}
	if values != nil {
		samples := [][2]any{}
		for i, value := range values {
			at := one.start.Add(time.Duration(i) * one.step)
			samples = append(samples, [2]any{at.Unix(), strconv.FormatFloat(value, 'g', -1, 64)})
		}
		result = append(result, map[string]any{"metric": map[string]string{}, "values": samples})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"status": "success", "warnings": []string{"a stand-in answers"},
		"data": map[string]any{"resultType": "matrix", "result": result}})
}

func (s *server) set(answer func(asked) []float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *server) refuse(query string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refused = query
}

func (s *server) queries() []asked {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]asked(nil), s.asked...)
}

func unix(text string) time.Time {
	seconds, _ := strconv.ParseFloat(text, 64)
	return time.UnixMilli(int64(seconds * 1000))
}

func always(values ...float64) func(asked) []float64 {
	return func(asked) []float64 { return values }
}

// configured is a plugin configuration with the provider prom at an address.
func configured(address string) config.Config {
	data, _ := json.Marshal(map[string]any{"address": address})
	return config.Config{AnalysisProviders: []config.Provider{
		{Name: "prom", Type: config.Prometheus, Config: data},
	}}
}

func start(t *testing.T, c *manualClock, address string, former *wiretest.Piped) *wiretest.Harness {
	t.Helper()
	return wiretest.Start(t, sdk.ForStages(&plugin{clock: c.clock()}),
		wiretest.Options{Name: "analysis", Config: configured(address), Piped: former})
}

// waitEvaluations returns when the stage has logged so many evaluations and noted them.
func waitEvaluations(t *testing.T, h *wiretest.Harness, c *manualClock, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		kept := map[string]counts{}
		_ = json.Unmarshal([]byte(h.Piped.StageMetadata("analysis")[string(countsKey)]), &kept)
		total := 0
		for _, each := range kept {
			total += each.Evaluations
		}
		if total < n {
			c.advance(50 * time.Millisecond) // the note is made a second after the one before it
		}
		return total >= n
	}, time.Minute, time.Millisecond, "%d evaluations", n)
}

// finish moves the clock until the stage has ended.
func finish(c *manualClock, ended <-chan model.StageStatus) model.StageStatus {
	for {
		select {
		case status := <-ended:
			return status
		case <-time.After(time.Millisecond):
			if c.awaited() {
				c.advance(time.Second)
			}
		}
	}
}

func stage(duration, metric string) string {
	return fmt.Sprintf(`{"duration":%q,"metrics":[{"provider":"prom",%s}]}`, duration, metric)
}
