// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSamplesThatAServiceRepeatsAreKnownByTheirPattern(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		want   int
		series [][]float64
	}{
		"nothing":                    {1, nil},
		"no samples":                 {1, [][]float64{{}}},
		"a constant":                 {1, [][]float64{{1, 1, 1, 1, 1}}},
		"cut runs only":              {1, [][]float64{{1, 1, 1, 2, 2}}},
		"different":                  {1, [][]float64{{1, 2, 3, 4}, {5, 6, 7}}},
		"a chance":                   {1, [][]float64{{1, 2, 2, 3, 4, 5, 5, 5}}},
		"a value that stays":         {1, [][]float64{{0, 0, 0, 1, 0, 0, 0, 0, 1, 0}}},
		"two of each":                {2, [][]float64{{1, 2, 2, 3, 3, 4}}},
		"two or three of each":       {3, [][]float64{{1, 2, 2, 3, 3, 3, 4, 4}}},
		"a value twice among threes": {3, [][]float64{{1, 1, 2, 2, 2, 3, 3, 3, 3, 3, 3, 4}}},
		"mostly two of each":         {2, [][]float64{{1, 2, 2, 3, 4, 4, 5, 5, 6}}},
		"of the other series":        {3, [][]float64{{1, 1, 1, 1}, {1, 2, 2, 2, 3}}},
	} {
		require.Equal(t, c.want, Repeats(c.series), name)
	}
	require.Equal(t, []float64{1, 4, 5}, Every([][]float64{{1, 2, 3, 4}, {5, 6}}, 3))
}

// repeated are the 11 samples of an interval of 60 s, of a series that gets one each so many seconds.
func repeated(random *rand.Rand, scrape float64) []float64 {
	var values []float64
	last, value, phase := -1, 0.0, random.Float64()*scrape
	for i := range 11 {
		if scraped := int((phase + float64(i)*6) / scrape); scraped != last {
			last, value = scraped, random.Float64()
		}
		values = append(values, value)
	}
	return values
}

// With repeated samples, a sixth of them differ that are scraped each 10 s, and a fourth of those each 15 s.
func TestEqualVariantsDifferAsRarelyAsPromisedThoughSamplesAreRepeated(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, scrape := range []float64{5, 10, 15} {
		const rounds = 600
		thinned := 0
		for range rounds {
			one, other := repeated(random, scrape), repeated(random, scrape)
			n := Repeats([][]float64{one, other})
			result, err := Test(Every([][]float64{one}, n), Every([][]float64{other}, n), Either)
			require.NoError(t, err)
			if result.Differs {
				thinned++
			}
		}
		require.Less(t, float64(thinned)/rounds, 0.07, scrape)
	}
}
