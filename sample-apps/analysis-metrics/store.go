// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"sync"
	"time"
)

const (
	// every is the time between two samples, and kept how many there are of each series.
	every = time.Second
	kept  = 900
	// stale is how long a sample stands for later moments.
	stale = 4 * time.Second
	// maxSteps bounds the moments of a query, as Prometheus does.
	maxSteps = 11_000
)

// notPrometheus goes with each answer of this program.
const notPrometheus = "answered by the program of the sample, which is not Prometheus: it knows " +
	"error_share{target=\"…\"} only"

// store keeps the share of failures of each target.
type store struct {
	targets []*target

	mu     sync.Mutex
	series map[string][]sample
}

type sample struct {
	at    time.Time
	value float64
}

func newStore(targets []*target) *store {
	return &store{targets: targets, series: map[string][]sample{}}
}

// keep takes a sample of each target every second until ctx ends.
func (s *store) keep(ctx context.Context) {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks.C:
			s.take(now)
		}
	}
}

func (s *store) take(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.targets {
		if _, _, share, known := t.counts(now); known {
			samples := append(s.series[t.name], sample{now, share})
			s.series[t.name] = samples[max(len(samples)-kept, 0):]
		}
	}
}

// expose writes the metrics in Prometheus' text format.
func (s *store) expose(w http.ResponseWriter, _ *http.Request) {
	now := time.Now()
	fmt.Fprintln(w, "# TYPE answers_total counter")
	for _, t := range s.targets {
		good, bad, _, _ := t.counts(now)
		fmt.Fprintf(w, "answers_total{target=%q,failed=\"false\"} %d\nanswers_total{target=%q,failed=\"true\"} %d\n",
			t.name, good, t.name, bad)
	}
	fmt.Fprintln(w, "# TYPE error_share gauge")
	for _, t := range s.targets {
		if _, _, share, known := t.counts(now); known {
			fmt.Fprintf(w, "error_share{target=%q} %g\n", t.name, share)
		}
	}
}

// selector is all that this program knows of PromQL.
var selector = regexp.MustCompile(`^\s*error_share\s*\{\s*target\s*=\s*"([^"]*)"\s*\}\s*$`)

// query answers query_range.
func (s *store) query(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Server", "sample of pipedeck, not Prometheus")
	found := selector.FindStringSubmatch(r.FormValue("query"))
	start, startErr := strconv.ParseFloat(r.FormValue("start"), 64)
	end, endErr := strconv.ParseFloat(r.FormValue("end"), 64)
	step, stepErr := strconv.ParseFloat(r.FormValue("step"), 64)
	switch {
	case r.URL.Path != "/api/v1/query_range" || found == nil:
		refuse(w, notPrometheus)
		return
	case startErr != nil || endErr != nil || stepErr != nil || !(step > 0) || !((end-start)/step < maxSteps):
		refuse(w, "start, end and step are not those of a range with fewer moments than 11,000")
		return
	}
	values := s.values(found[1], start, end, step)
	result := []any{}
	if len(values) > 0 {
		metric := map[string]string{"__name__": "error_share", "target": found[1]}
		result = append(result, map[string]any{"metric": metric, "values": values})
	}
	answerJSON(w, map[string]any{"status": "success", "warnings": []string{notPrometheus},
		"data": map[string]any{"resultType": "matrix", "result": result}})
}

// values are the samples at the moments of a range, each [unix seconds, "value"].
func (s *store) values(name string, start, end, step float64) (values [][2]any) {
	s.mu.Lock()
	samples := s.series[name]
	s.mu.Unlock()
	next := 0
	for i := range maxSteps {
		moment := start + float64(i)*step
		if moment > end {
			break
		}
		at := time.UnixMilli(int64(moment * 1000))
		for next < len(samples) && !samples[next].at.After(at) {
			next++
		}
		if next > 0 && at.Sub(samples[next-1].at) < stale {
			text := strconv.FormatFloat(samples[next-1].value, 'g', -1, 64)
			values = append(values, [2]any{moment, text})
		}
	}
	return values
}

func refuse(w http.ResponseWriter, why string) {
	w.WriteHeader(http.StatusBadRequest)
	answerJSON(w, map[string]any{"status": "error", "errorType": "bad_data", "error": why})
}

func answerJSON(w http.ResponseWriter, value any) { _ = json.NewEncoder(w).Encode(value) }
