// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// spread are 11 different values from a first one on.
func spread(from float64) []float64 {
	values := make([]float64, 11)
	for i := range values {
		values[i] = from + float64(i)
	}
	return values
}

func TestTwoVariantsAreCompared(t *testing.T) {
	t.Parallel()
	same, higher, lower := spread(100), spread(1000), spread(1)
	for name, c := range map[string]struct {
		strategy, deviation, other string
		canary                     []float64
		good                       bool
		log                        string
	}{
		"as high":      {"CANARY_BASELINE", "EITHER", "baseline", same, true, "not significantly different (p = "},
		"higher":       {"CANARY_BASELINE", "EITHER", "baseline", higher, false, "canary is different (p = 2.8"},
		"too high":     {"CANARY_PRIMARY", "HIGH", "primary", higher, false, "canary is higher (p = 1.4"},
		"high is good": {"CANARY_PRIMARY", "LOW", "primary", higher, true, "not significantly lower (p = 1"},
		"too low":      {"CANARY_PRIMARY", "LOW", "primary", lower, false, "canary is lower (p = 1.4"},
		"low is good":  {"CANARY_PRIMARY", "HIGH", "primary", lower, true, "not significantly higher (p = 1"},
		"too few":      {"CANARY_PRIMARY", "HIGH", "primary", []float64{9}, true, "too few samples for any difference"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, func(one asked) []float64 {
				switch one.query {
				case `errors{v="canary",job="a"}`:
					return c.canary
				case fmt.Sprintf(`errors{v=%q,job="b"}`, c.other):
					return same
				}
				return nil
			})
			clock := newManualClock()
			h := start(t, clock, s.URL, nil)
			more := ""
			if strings.HasPrefix(name, "too few") {
				more = `,"skipOnNoData":true`
			}
			ended := h.Go(t.Context(), t, stageAnalysis, stage("2m", fmt.Sprintf(
				`"strategy":%q,"deviation":%q,"interval":"90s","query":%q,"canaryArgs":{"job":"a"},`+
					`"baselineArgs":{"job":"b"},"primaryArgs":{"job":"b"}%s`, c.strategy, c.deviation,
				`errors{v="{{ .Variant.Name }}",job="{{ .VariantCustomArgs.job }}"}`, more)))
			want := model.StageStatus_STAGE_FAILURE
			if c.good {
				want = model.StageStatus_STAGE_SUCCESS
			}
			require.Equal(t, want, finish(clock, ended), h.Piped.Log("analysis"))
			require.Contains(t, h.Piped.Log("analysis"), c.log)
			require.Equal(t, 9*time.Second, s.queries()[0].step)
		})
	}
}

func TestSamplesThatAreRepeatedUntilTheNextScrapeCountOnce(t *testing.T) {
	t.Parallel()
	// Scrapes each 15 s, asked each 6 s: of 4 scrapes that are lower than 3 of 4 others, no difference can be certain.
	held := func(a, b, c, d float64) []float64 { return []float64{a, a, a, b, b, c, c, c, d, d, d} }
	s := newServer(t, func(one asked) []float64 {
		if one.query == "canary" {
			return held(8, 7, 6, 3)
		}
		return held(1, 2, 5, 4)
	})
	c := newManualClock()
	h := start(t, c, s.URL, nil)
	ended := h.Go(t.Context(), t, stageAnalysis, stage("80s",
		`"strategy":"CANARY_PRIMARY","interval":"1m","query":"{{ .Variant.Name }}"`))
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, finish(c, ended), h.Piped.Log("analysis"))
	require.Contains(t, h.Piped.Log("analysis"), "canary has the median 6 (11 samples), primary has 4 (11 samples): "+
		"not significantly different (p = 0.1143, limit 0.05); one sample in 3 counts, because they are repeated "+
		"until the next scrape; query: ")
}

func TestAComparisonOfRepeatedSamplesKeepsAsManyAsItNeeds(t *testing.T) {
	t.Parallel()
	// Scrapes each 30 s.
	low, high := []float64{1, 1, 2, 2, 2, 2, 2, 3, 3, 3, 3}, []float64{8, 8, 7, 7, 7, 7, 7, 6, 6, 6, 6}
	s := newServer(t, func(one asked) []float64 {
		if one.query == "canary" {
			return high
		}
		return low
	})
	h := start(t, newManualClock(), s.URL, nil)
	require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, stageAnalysis, stage("80s",
		`"strategy":"CANARY_PRIMARY","interval":"1m","query":"{{ .Variant.Name }}"`)))
	require.Contains(t, h.Piped.Log("analysis"), "limit 0.05); one sample in 3 counts, because they are repeated")
}

func TestSidesWithoutValuesAreTheSameOnBothSides(t *testing.T) {
	t.Parallel()
	nan := []float64{math.NaN(), math.NaN()}
	some := append(spread(1), math.NaN())
	for name, c := range map[string]struct {
		canary, primary []float64
		noData          string
	}{
		"no series of canary":   {nil, spread(1), "no data: canary: no series"},
		"no series of primary":  {spread(1), nil, "no data: primary: no series"},
		"NaN only of canary":    {nan, spread(1), "no data: canary: all 2 samples are NaN"},
		"NaN only of primary":   {spread(1), nan, "no data: primary: all 2 samples are NaN"},
		"nothing of either":     {nil, nan, "no data: canary: no series"},
		"a NaN among canary's":  {some, spread(1), ""},
		"a NaN among primary's": {spread(1), some, ""},
	} {
		for _, skip := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, skipOnNoData %t", name, skip), func(t *testing.T) {
				t.Parallel()
				s := newServer(t, func(one asked) []float64 {
					if one.query == "canary" {
						return c.canary
					}
					return c.primary
				})
				clock := newManualClock()
				h := start(t, clock, s.URL, nil)
				ended := h.Go(t.Context(), t, stageAnalysis, stage("50s", fmt.Sprintf(`"strategy":"CANARY_PRIMARY",`+
					`"interval":"40s","query":"{{ .Variant.Name }}","skipOnNoData":%t`, skip)))
				want, log := model.StageStatus_STAGE_SUCCESS, "and 1 of NaN"
				if c.noData != "" {
					log = c.noData
					if !skip {
						want = model.StageStatus_STAGE_FAILURE
					}
				}
				require.Equal(t, want, finish(clock, ended), h.Piped.Log("analysis"))
				require.Contains(t, h.Piped.Log("analysis"), log)
			})
		}
	}
}

func TestAQueryThatFailsOnEitherSideIsAFailure(t *testing.T) {
	t.Parallel()
	for _, broken := range []string{"canary", "baseline"} {
		t.Run(broken, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, always(spread(1)...))
			s.refuse(broken)
			h := start(t, newManualClock(), s.URL, nil)
			require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, stageAnalysis, stage("50s",
				`"strategy":"CANARY_BASELINE","interval":"40s","query":"{{ .Variant.Name }}","skipOnNoData":true`)))
			require.Contains(t, h.Piped.Log("analysis"), "query failed: "+broken+": ask ")
		})
	}
}

func TestPreviousComparesWithTheLastSuccessfulAnalysis(t *testing.T) {
	t.Parallel()
	c, s := newManualClock(), newServer(t, always(spread(100)...))
	options := stage("10m", `"strategy":"PREVIOUS","interval":"6m","query":"q"`)
	h := start(t, c, s.URL, nil)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, finish(c, h.Go(t.Context(), t, stageAnalysis, options)))
	require.Contains(t, h.Piped.Log("analysis"), "there is no earlier successful analysis to compare with")
	require.Empty(t, s.queries())
	former := c.now().Add(-10 * time.Minute)

	c.advance(24 * time.Hour)
	forget(h)
	second := c.now()
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, finish(c, h.Go(t.Context(), t, stageAnalysis, options)))
	queries := s.queries()
	require.Len(t, queries, 4)
	for i, elapsed := range []time.Duration{0, 6 * time.Minute} {
		now, then := queries[2*i], queries[2*i+1]
		require.WithinDuration(t, second.Add(elapsed), now.end, time.Minute)
		require.WithinDuration(t, former.Add(elapsed), then.end, time.Minute)
		require.Equal(t, 6*time.Minute, then.end.Sub(then.start))
	}

	c.advance(24 * time.Hour)
	forget(h)
	third := c.now()
	s.set(func(one asked) []float64 {
		if one.end.After(third.Add(-time.Hour)) {
			return spread(1000)
		}
		return spread(100)
	})
	require.Equal(t, model.StageStatus_STAGE_FAILURE, finish(c, h.Go(t.Context(), t, stageAnalysis, options)))
	require.Contains(t, h.Piped.Log("analysis"), "now is different (p = ")
}

func TestAVariableWithoutAValueFailsTheStageAtItsBegin(t *testing.T) {
	t.Parallel()
	s := newServer(t, always(1))
	h := start(t, newManualClock(), s.URL, nil)
	require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, stageAnalysis,
		stage("10m", `"interval":"5m","query":"{{ .AppCustomArgs.absent }}","expected":{"max":1}`)))
	require.Contains(t, h.Piped.Log("analysis"), "metrics[0]: its variables cannot be filled in: ")
	require.Empty(t, s.queries())
}

// forget has the stage be one of another deployment, which has no metadata yet.
func forget(h *wiretest.Harness) {
	for key, value := range map[string]string{
		string(elapsedKey): "0s", string(countsKey): "{}", string(seriesKey): "[]",
	} {
		h.Piped.SetStageMetadata("analysis", key, value)
	}
}
