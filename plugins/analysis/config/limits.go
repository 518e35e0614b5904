// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

const (
	// DefaultTimeout bounds one query (PipeCD v1).
	DefaultTimeout = 30 * time.Second
	// Shortest is the shortest interval, and the shortest step: what answers queries is asked that often at most.
	Shortest = time.Second
	// MinSamples is the least number of samples a side with which a comparison of two sides can be significant: with 3
	// and 3, the smallest two-sided p is 0.1.
	MinSamples = 4
	// maxEntries bounds the metrics, logs and requests of a stage.
	maxEntries = 200
	// shortestStep and longestStep bound the default step of a comparison.
	shortestStep = time.Second
	longestStep  = time.Minute
)

// Validate refuses what can never be evaluated. Entries with a template are checked when it is known.
func (o *Options) Validate() error {
	if o.Duration <= 0 {
		return errors.New("duration is required and has to be more than 0, such as \"30m\"")
	}
	if n := len(o.Metrics) + len(o.Logs) + len(o.HTTPS); n > maxEntries {
		return fmt.Errorf("there are %d metrics, logs and https: at most %d", n, maxEntries)
	}
	if o.empty() {
		return errors.New("there is nothing to evaluate: the stage has no metrics, logs or https")
	}
	var mistakes []error
	for i := range o.Metrics {
		if o.Metrics[i].Template == nil {
			mistakes = append(mistakes, inEntry("metrics", i, o.Metrics[i].Check(o.times())))
		}
	}
	for i := range o.Logs {
		if o.Logs[i].Template == nil {
			mistakes = append(mistakes, inEntry("logs", i, o.Logs[i].Check(o.times())))
		}
	}
	for i := range o.HTTPS {
		if o.HTTPS[i].Template == nil {
			mistakes = append(mistakes, inEntry("https", i, o.HTTPS[i].Check(o.times())))
		}
	}
	return errors.Join(mistakes...)
}

func (o *Options) empty() bool { return len(o.Metrics)+len(o.Logs)+len(o.HTTPS) == 0 }

// Contents is what there is to evaluate, in words.
func (o *Options) Contents() string {
	var parts []string
	for _, each := range []struct {
		n         int
		one, more string
	}{
		{len(o.Metrics), "metric", "metrics"}, {len(o.Logs), "log", "logs"}, {len(o.HTTPS), "request", "requests"},
	} {
		switch each.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+each.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", each.n, each.more))
		}
	}
	return strings.Join(parts, ", ")
}

func inEntry(list string, i int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s[%d]: %w", list, i, err)
}

// Check refuses a metric that cannot be evaluated in an analysis that lasts so long, or never be significant.
func (m *Metric) Check(in times) error {
	strategies := []string{"", Threshold, Previous, CanaryBaseline, CanaryPrimary}
	switch {
	case m.Provider == "":
		return errors.New("provider is required: the name of an analysis provider")
	case m.Query == "":
		return errors.New("query is required")
	case !slices.Contains(strategies, m.Strategy):
		return fmt.Errorf("strategy is %q: want THRESHOLD, PREVIOUS, CANARY_BASELINE or CANARY_PRIMARY", m.Strategy)
	case !slices.Contains([]string{"", Either, High, Low}, m.Deviation):
		return fmt.Errorf("deviation is %q: want EITHER, HIGH or LOW", m.Deviation)
	case !m.Compares() && (m.Expected == nil || m.Expected.Min == nil && m.Expected.Max == nil):
		return errors.New("expected.min or expected.max is required for the strategy THRESHOLD")
	case !m.Compares() && m.Expected.Min != nil && m.Expected.Max != nil && *m.Expected.Min > *m.Expected.Max:
		return fmt.Errorf("expected.min %v is more than expected.max %v", *m.Expected.Min, *m.Expected.Max)
	case m.Step < 0:
		return errors.New("step has to be more than 0")
	case m.Step > 0 && m.Step.Std() < Shortest:
		return fmt.Errorf("step %s is too short: want %s or more", m.Step, Shortest)
	}
	if err := in.check(m.Interval.Std(), m.FailureLimit); err != nil {
		return err
	}
	if err := checkVariables("query", m.Query); err != nil {
		return err
	}
	if m.Compares() && m.Samples() < MinSamples {
		return fmt.Errorf("interval %s and step %s give %d samples a side, with which no difference can be "+
			"significant: want %d or more", m.Interval, m.SampleStep(), m.Samples(), MinSamples)
	}
	return nil
}

// Check refuses a log that cannot be evaluated in an analysis that lasts so long.
func (l *Log) Check(in times) error {
	switch {
	case l.Provider == "":
		return errors.New("provider is required: the name of an analysis provider")
	case l.Query == "":
		return errors.New("query is required")
	}
	if least, most := l.Entries(); least > most {
		return fmt.Errorf("expected.min %d is more than expected.max %d", least, most)
	}
	if err := checkVariables("query", l.Query); err != nil {
		return err
	}
	return in.check(l.Interval.Std(), l.FailureLimit)
}

// Entries are the least and the greatest number of entries that are good: none by default, any number from a min on.
func (l *Log) Entries() (least, most int) {
	least, most = 0, math.MaxInt32
	e := l.Expected
	if e == nil || e.Min == nil && e.Max == nil {
		return 0, 0
	}
	bounded := func(value float64) int { return int(min(max(value, 0), math.MaxInt32)) }
	if e.Min != nil {
		least = bounded(math.Ceil(*e.Min))
	}
	if e.Max != nil {
		most = bounded(math.Floor(*e.Max))
	}
	return least, most
}

// Check refuses a request that cannot be evaluated in an analysis that lasts so long.
func (h *HTTP) Check(in times) error {
	if h.URL == "" {
		return errors.New("url is required")
	}
	if err := h.checkRequest(); err != nil {
		return err
	}
	return in.check(h.Interval.Std(), h.FailureLimit)
}

// times are what an interval has to fit in.
type times struct {
	duration time.Duration
	// shared is whether the entry stems from a template: stages of several durations share its interval, so it may be
	// as long as the duration. It is evaluated at both ends then.
	shared bool
}

func (o *Options) times() times { return times{duration: o.Duration.Std()} }

func (t times) check(interval time.Duration, failureLimit int) error {
	switch {
	case interval <= 0:
		return errors.New("interval is required and has to be more than 0, such as \"5m\"")
	case interval < Shortest:
		return fmt.Errorf("interval %s is too short: want %s or more", interval, Shortest)
	case interval > t.duration || interval == t.duration && !t.shared:
		return fmt.Errorf("interval %s has to be shorter than the duration %s, or nothing of the analysis is evaluated",
			interval, t.duration)
	case failureLimit < 0:
		return errors.New("failureLimit has to be 0 or more")
	}
	return nil
}

// Compares is whether the metric compares two sides, and not a side with limits.
func (m *Metric) Compares() bool { return m.Strategy != "" && m.Strategy != Threshold }

// SampleStep is the time between two samples.
func (m *Metric) SampleStep() time.Duration {
	interval := m.Interval.Std()
	switch {
	case m.Step > 0:
		return m.Step.Std()
	case m.Compares():
		return min(max((interval/10).Truncate(time.Second), shortestStep), longestStep)
	default: // PipeCD v1
		return min(interval, longestStep)
	}
}

// Samples is how many samples of one series an interval has, both of its ends included.
func (m *Metric) Samples() int { return int(m.Interval.Std()/m.SampleStep()) + 1 }

// QueryTimeout is the timeout of a query, or the default.
func QueryTimeout(given time.Duration) time.Duration { return cmp.Or(max(given, 0), DefaultTimeout) }
