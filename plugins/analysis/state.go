// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

const (
	// elapsedKey holds the elapsed time as a duration such as 20.1s (PipeCD v1).
	elapsedKey sdk.StageKey[sdk.Text] = "elapsedTime"
	// countsKey holds how often each entry was evaluated and has failed, by name.
	countsKey sdk.StageKey[map[string]counts] = "pipedeck/analysis"
	// seriesKey holds what charts show.
	seriesKey sdk.StageKey[[]*series] = "pipedeck/analysis-series"
	// latestKey is the shared object of the application with the last successful analysis (PipeCD v1).
	latestKey = "latest-analysis-result"
	// maxRemarks bounds the remarks of providers that an attempt logs.
	maxRemarks = 20
	// maxSeries bounds what is kept for charts, in bytes: piped keeps 256 KiB.
	maxSeries = 200 << 10
)

// counts are those of one metric or request.
type counts struct {
	// Next is the number of the next evaluation, from 0: it is due after Next intervals.
	Next        int  `json:"next"`
	Evaluations int  `json:"evaluations"`
	Failures    int  `json:"failures"`
	NoData      int  `json:"noData,omitempty"`
	Over        bool `json:"over,omitempty"`
}

// state is what one attempt at a stage leaves to the next one.
type state struct {
	elapsed time.Duration
	counts  map[string]counts
	series  []*series
	// remarks are what providers have said about their answers, as far as it is logged. Each attempt logs it again.
	remarks map[string]bool
}

// remark logs what a provider says about an answer, each remark once.
func (s *state) remark(log sdk.StageLog, name string, remarks []string) {
	for _, text := range remarks {
		if text = oneLine(text); !s.remarks[text] && len(s.remarks) < maxRemarks {
			s.remarks[text] = true
			log.Infof("%s: its provider says: %s", name, text)
		}
	}
}

// readState returns what earlier attempts have left; resumed is false when there is none.
func readState(ctx context.Context, client sdk.StageClient) (s *state, resumed bool, err error) {
	s = &state{counts: map[string]counts{}, remarks: map[string]bool{}}
	elapsed, found, err := elapsedKey.Get(ctx, client)
	if err != nil {
		return nil, false, err
	}
	if !found {
		return s, false, nil
	}
	// A value that is none of ours is no reason to fail: the analysis begins at its start.
	if parsed, err := time.ParseDuration(string(elapsed)); err == nil && parsed > 0 {
		s.elapsed = parsed
	}
	kept, _, err := countsKey.Get(ctx, client)
	if err != nil {
		return nil, false, err
	}
	for name, each := range kept {
		s.counts[name] = each
	}
	s.series, _, err = seriesKey.Get(ctx, client)
	return s, true, err
}

// save writes the elapsed time and the counts, and the series when they are wanted, all or none.
func (s *state) save(ctx context.Context, client sdk.StageClient, withSeries bool) error {
	encoded, err := json.Marshal(s.counts)
	if err != nil {
		return fmt.Errorf("encode the counts of the analysis: %w", err)
	}
	values := map[string]string{string(elapsedKey): s.elapsed.String(), string(countsKey): string(encoded)}
	if withSeries {
		if encoded, err = json.Marshal(s.series); err != nil {
			return fmt.Errorf("encode the values of the analysis: %w", err)
		}
		// Only charts lack what is too much to be kept.
		if len(encoded) <= maxSeries {
			values[string(seriesKey)] = string(encoded)
		}
	}
	return client.PutMetadata(ctx, sdk.OfStage, values)
}

// latest is the last successful analysis of an application (PipeCD v1).
type latest struct {
	StartTime int64 `json:"start_time"`
}

// previousStart returns when the last successful analysis of an application began; the zero time when there is none.
func previousStart(ctx context.Context, client sdk.Client, application string) (time.Time, error) {
	object, found, err := client.SharedObject(ctx, application, latestKey)
	if err != nil || !found {
		return time.Time{}, err
	}
	var last latest
	if err := json.Unmarshal(object, &last); err != nil {
		return time.Time{}, fmt.Errorf("shared object %s of the application: %w", latestKey, err)
	}
	return time.Unix(last.StartTime, 0), nil
}

func putStart(ctx context.Context, client sdk.Client, application string, start time.Time) error {
	object, err := json.Marshal(latest{start.Unix()})
	if err != nil {
		return err
	}
	return client.PutSharedObject(ctx, application, latestKey, object)
}
