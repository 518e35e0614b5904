// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package compare says whether two groups of samples differ, by the U test of Mann and Whitney, for the plugin
// analysis. It keeps nothing; its only errors are groups without samples.
package compare

import (
	"errors"
	"fmt"
	"math"

	"github.com/aclements/go-moremath/stats"
)

// Alpha is the level of significance (PipeCD v1): a p value below it is a difference.
const Alpha = 0.05

// Deviation is the direction of a difference that counts.
type Deviation int

// The directions.
const (
	Either Deviation = iota
	// High counts when the first group is higher.
	High
	// Low counts when the first group is lower.
	Low
)

// Result is the outcome of a test.
type Result struct {
	// U is the statistic of the first group, with 1/2 for each tie.
	U float64
	// P is the probability of such samples, or of more extreme ones, when nothing differs.
	P float64
	// Differs is whether P is below Alpha.
	Differs bool
	// TooFew is whether no samples of this number could differ.
	TooFew bool
}

// Test compares the first group with the second. Up to 50 samples a side (25 with ties) P is exact, above approximate.
func Test(first, second []float64, deviation Deviation) (Result, error) {
	if len(first) == 0 || len(second) == 0 {
		return Result{}, errors.New("one side has no samples")
	}
	result, err := stats.MannWhitneyUTest(first, second, hypothesis(deviation))
	if errors.Is(err, stats.ErrSamplesEqual) {
		result, err = &stats.MannWhitneyUTestResult{U: float64(len(first)*len(second)) / 2, P: 1}, nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("compare %d samples with %d: %w", len(first), len(second), err)
	}
	return Result{
		U: result.U, P: result.P, Differs: below(result.P), TooFew: !below(smallest(first, second, deviation)),
	}, nil
}

// below is whether P is below Alpha, and not only by the rounding of a P that is Alpha.
func below(p float64) bool { return p < Alpha-1e-9 }

func hypothesis(deviation Deviation) stats.LocationHypothesis {
	switch deviation {
	case High:
		return stats.LocationGreater
	case Low:
		return stats.LocationLess
	}
	return stats.LocationDiffers
}

// smallest is the least P that so many samples can have: all of one side are below all of the other.
func smallest(first, second []float64, deviation Deviation) float64 {
	n, m := float64(len(first)), float64(len(second))
	log := func(x float64) float64 { value, _ := math.Lgamma(x + 1); return value }
	p := math.Exp(log(n) + log(m) - log(n+m))
	if deviation == Either {
		p *= 2
	}
	return min(p, 1)
}
