// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/pipedeck/pipedeck/plugins/analysis/config"
	"github.com/pipedeck/pipedeck/plugins/analysis/provider"
)

// strategyCount is what charts call a log: the number of entries is compared with limits.
const strategyCount = "COUNT"

// mostCounted bounds the entries that are counted of one interval.
const mostCounted = 10_000

// entryLog evaluates one log of a stage.
type entryLog struct {
	config      config.Log
	provider    provider.Logs
	query       string
	least, most int
}

// newLog returns the analyzer of a log whose template is resolved.
func newLog(name string, l *config.StageLog, logs provider.Logs, variables config.Variables) (*analyzer, error) {
	query, err := variables.Fill(l.Query)
	if err != nil {
		return nil, err
	}
	it := &entryLog{config: l.Log, provider: logs, query: query}
	it.least, it.most = l.Entries()
	a := &analyzer{
		name: name, about: oneLine(query), strategy: strategyCount, interval: l.Interval.Std(),
		failureLimit: l.FailureLimit, skipOnNoData: l.SkipOnNoData, looksBack: true, evaluate: it.evaluate,
	}
	if it.least > 0 {
		a.min = limit(it.least)
	}
	if it.most < math.MaxInt32 {
		a.max = limit(it.most)
	}
	return a, nil
}

func limit(n int) *float64 {
	value := float64(n)
	return &value
}

// evaluate counts the entries of the interval that ends now, as far as the limits need it.
func (l *entryLog) evaluate(ctx context.Context, at moment) outcome {
	ctx, cancel := context.WithTimeout(ctx, config.QueryTimeout(l.config.Timeout.Std()))
	defer cancel()
	enough := l.least
	if l.most < math.MaxInt32 {
		enough = max(enough, l.most+1)
	}
	found, err := l.provider.Count(ctx, l.query, provider.Range{
		From: at.now.Add(-l.config.Interval.Std()), To: at.now,
	}, min(enough, mostCounted))
	if err != nil {
		return outcome{verdict: failed, text: err.Error()}
	}
	return l.judge(found)
}

func (l *entryLog) judge(found provider.Entries) outcome {
	text := fmt.Sprintf("%s, expected %s", entries(found), l.expected())
	count := float64(found.Count)
	o := outcome{verdict: good, text: text, shown: &point{Low: count, High: count, Value: count}}
	switch {
	case found.Count == 0 && l.least > 0:
		o.verdict, o.shown = noData, nil
	case found.Count < l.least && found.More:
		o.verdict, o.text = failed, text+": there are more than can be counted"
	case found.Count < l.least:
		o.verdict, o.text = bad, text+": that is too few"
	case found.Count > l.most:
		o.verdict, o.text = bad, text+": that is too many"
	case found.More && l.most < math.MaxInt32:
		o.verdict, o.text = failed, text+": there are more than can be counted"
	}
	return o
}

func (l *entryLog) expected() string {
	switch {
	case l.most == 0:
		return "none"
	case l.least == 0:
		return fmt.Sprintf("at most %d", l.most)
	case l.most == math.MaxInt32:
		return fmt.Sprintf("at least %d", l.least)
	}
	return fmt.Sprintf("%d to %d", l.least, l.most)
}

func entries(found provider.Entries) string {
	var text string
	switch {
	case found.More:
		text = fmt.Sprintf("%d entries or more", found.Count)
	case found.Count == 0:
		return "no entries"
	case found.Count == 1:
		text = "1 entry"
	default:
		text = fmt.Sprintf("%d entries", found.Count)
	}
	if !found.Newest.IsZero() {
		text += ", the newest at " + found.Newest.UTC().Format(time.RFC3339)
	}
	return text
}
