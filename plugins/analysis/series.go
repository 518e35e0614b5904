// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"
	"slices"
)

const (
	// maxShownPoints bounds the points that are kept of all metrics together, maxPointsEach those of one: the newest.
	maxShownPoints = 1200
	maxPointsEach  = 60
	// maxShownQuery bounds the query next to them, in bytes.
	maxShownQuery = 300
)

// series is what is kept of one metric or request for charts, as stage metadata.
type series struct {
	Name     string   `json:"name"`
	Query    string   `json:"query"`
	Strategy string   `json:"strategy,omitempty"`
	Min      *float64 `json:"min,omitempty"`
	Max      *float64 `json:"max,omitempty"`
	Points   []point  `json:"points"`
}

// point is one evaluation.
type point struct {
	// At is when, in unix seconds.
	At int64 `json:"at"`
	// Low and High are the least and the greatest sample, Value is their median. All are 0 in an evaluation without
	// samples.
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Value float64 `json:"value"`
	// Other is the median of what the samples are compared with.
	Other   *float64 `json:"other,omitempty"`
	Verdict verdict  `json:"verdict"`
	// Empty is whether there are no samples.
	Empty bool `json:"empty,omitempty"`
}

// summary describes samples, of which there is at least one. JSON knows no infinity, so the greatest number stands for
// it.
func summary(values []float64) *point {
	sorted := slices.Clone(values)
	for i, value := range sorted {
		sorted[i] = min(max(value, -math.MaxFloat64), math.MaxFloat64)
	}
	slices.Sort(sorted)
	middle := len(sorted) / 2
	median := sorted[middle]
	if len(sorted)%2 == 0 {
		median = sorted[middle-1]/2 + sorted[middle]/2
	}
	return &point{Low: sorted[0], High: sorted[len(sorted)-1], Value: median}
}

// add adds a point and keeps at most so many.
func (s *series) add(p point, most int) {
	s.Points = append(s.Points, p)
	if excess := len(s.Points) - most; excess > 0 {
		s.Points = slices.Delete(s.Points, 0, excess)
	}
}
