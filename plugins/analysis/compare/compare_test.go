// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// The critical values of U, two-sided, at 0.05, for n and m samples: with this U the test is significant, with one more
// it is not (Mann and Whitney 1947; Milton 1964, as in the tables of textbooks).
var critical = map[[2]int]int{
	{4, 4}: 0, {4, 5}: 1, {4, 6}: 2, {4, 7}: 3, {4, 8}: 4, {4, 9}: 4, {4, 10}: 5,
	{5, 5}: 2, {5, 6}: 3, {5, 7}: 5, {5, 8}: 6, {5, 9}: 7, {5, 10}: 8,
	{6, 6}: 5, {6, 7}: 6, {6, 8}: 8, {6, 9}: 10, {6, 10}: 11,
	{7, 7}: 8, {7, 8}: 10, {7, 9}: 12, {7, 10}: 14,
	{8, 8}: 13, {8, 9}: 15, {8, 10}: 17, {9, 9}: 17, {9, 10}: 20, {10, 10}: 23,
	{12, 12}: 37, {15, 15}: 64, {20, 20}: 127,
}

func TestSignificanceIsThatOfThePublishedTables(t *testing.T) {
	t.Parallel()
	for size, u := range critical {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()
			for _, at := range []struct {
				u       int
				differs bool
			}{{u, true}, {u + 1, false}} {
				first, second := samples(size[0], size[1], at.u)
				result, err := Test(first, second, Either)
				require.NoError(t, err)
				require.InDelta(t, at.u, result.U, 0)
				require.Equal(t, at.differs, result.Differs, "U = %d: p = %v", at.u, result.P)
				require.False(t, result.TooFew)
			}
		})
	}
}

// samples are n and m different values of which u pairs have the first value above the second.
func samples(n, m, u int) (first, second []float64) {
	for i := range m {
		second = append(second, float64(i+1))
	}
	for i := range n {
		above := min(u, m) // how many of the second are below this one
		u -= above
		first = append(first, float64(above)+0.5+float64(i)/1000)
	}
	return first, second
}

func TestPValuesAreThoseOfTheExactDistribution(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		n, m, u   int
		deviation Deviation
		p         float64
	}{
		"2 and 2, two-sided": {2, 2, 0, Either, 1.0 / 3}, "3 and 3, two-sided": {3, 3, 0, Either, 0.1},
		"4 and 4, two-sided": {4, 4, 0, Either, 2.0 / 70}, "5 and 5, two-sided": {5, 5, 0, Either, 2.0 / 252},
		"4 and 4, lower": {4, 4, 0, Low, 1.0 / 70}, "4 and 4, higher": {4, 4, 16, High, 1.0 / 70},
		"4 and 4, lower but asked for higher": {4, 4, 0, High, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := samples(c.n, c.m, c.u)
			result, err := Test(first, second, c.deviation)
			require.NoError(t, err)
			require.InDelta(t, c.p, result.P, 1e-9)
		})
	}
}

// The example of wilcox.test in R: Hollander and Wolfe (1973), 69f, permeability of the human chorioamnion.
func TestTheExampleOfTextbooks(t *testing.T) {
	t.Parallel()
	result, err := Test([]float64{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46},
		[]float64{1.15, 0.88, 0.90, 0.74, 1.21}, High)
	require.NoError(t, err)
	require.InDelta(t, 35, result.U, 0)
	require.InDelta(t, 0.1272, result.P, 0.00005)
}

func TestTooFewSamples(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n, m      int
		deviation Deviation
		few       bool
	}{
		{3, 3, Either, true}, {3, 3, High, true}, {4, 4, Either, false}, {2, 4, High, true}, {2, 5, High, false},
		{2, 8, Either, false}, {2, 7, Either, true}, {1, 30, Low, false}, {1, 19, Low, true},
	} {
		first, second := samples(c.n, c.m, 0)
		result, err := Test(first, second, c.deviation)
		require.NoError(t, err)
		require.Equal(t, c.few, result.TooFew, "%v", c)
	}
}

func TestEqualSamplesDoNotDiffer(t *testing.T) {
	t.Parallel()
	result, err := Test([]float64{1, 1, 1, 1}, []float64{1, 1, 1, 1}, Either)
	require.NoError(t, err)
	require.False(t, result.Differs)
	require.InDelta(t, 1, result.P, 0)

	result, err = Test([]float64{math.Inf(1), 2, 3, 4}, []float64{1, 1, 1, 1}, High)
	require.NoError(t, err)
	require.True(t, result.Differs, "infinity is a value")

	_, err = Test(nil, []float64{1}, Either)
	require.Error(t, err)
}
