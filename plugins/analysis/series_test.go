// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

func TestTheValuesForChartsAreBounded(t *testing.T) {
	t.Parallel()
	s := series{Name: "metrics[0]"}
	for i := range 2 * maxPointsEach {
		p := summary([]float64{float64(i)})
		s.add(*p, maxPointsEach)
	}
	require.Len(t, s.Points, maxPointsEach)
	require.InDelta(t, 2*maxPointsEach-1, s.Points[maxPointsEach-1].Value, 0, "the newest stay")
	require.Len(t, clipped(strings.Repeat("a", 2*maxShownQuery)), maxShownQuery)
}

func TestSeriesThatAreTooMuchDoNotFailTheStage(t *testing.T) {
	t.Parallel()
	client := sdktest.NewClient(t)
	s := &state{series: []*series{{Name: strings.Repeat("<", maxSeries)}}}
	require.NoError(t, s.save(t.Context(), client, true))
	require.NotContains(t, client.All(sdk.OfStage), string(seriesKey))
	s.series[0].Name = "short"
	require.NoError(t, s.save(t.Context(), client, true))
	require.Contains(t, client.All(sdk.OfStage)[string(seriesKey)], "short")
}

func TestASummaryOfSamples(t *testing.T) {
	t.Parallel()
	require.Equal(t, &point{Low: 1, High: 4, Value: 2.5}, summary([]float64{4, 1, 3, 2}))
	infinite := summary([]float64{math.Inf(1), 1, math.Inf(-1)})
	require.InDelta(t, 1, infinite.Value, 0)
	_, err := json.Marshal(infinite)
	require.NoError(t, err, "JSON knows no infinity")
}

func TestAChartOfTheLog(t *testing.T) {
	t.Parallel()
	limit, other := 0.5, 0.2
	s := series{Name: "metrics[0]", Query: "errors", Max: &limit, Points: []point{
		{Low: 0, High: 0.2, Value: 0.1, Verdict: good}, {Empty: true, Verdict: noData},
		{Low: 1, High: 1, Value: 1, Other: &other, Verdict: bad},
	}}
	require.Equal(t, []string{
		"metrics[0]: errors",
		"      1 ┤  X",
		"        ┤",
		"        ┤",
		"max 0.5 ┤---",
		"        ┤",
		"        ┤",
		"        ┤o +",
		"      0 ┤|?",
		"         o median, X bad, | samples, ? no value",
	}, strings.Split(s.chart(), "\n"))
	require.Empty(t, (&series{Points: s.Points[:2]}).chart(), "one value says nothing")
	great := series{Points: []point{{Low: -1.7e308, High: 1.7e308}, {Low: 0, High: 1.7e308, Value: 1.7e308}}}
	require.NotEmpty(t, great.chart())
	for value, want := range map[float64]string{
		0.01: "0.015 ┤", 0: "1 ┤", -2: "-1 ┤", 5e-324: "1 ┤", math.MaxFloat64: "+Inf ┤oo", -math.MaxFloat64: "-Inf ┤oo",
	} {
		same := point{Low: value, High: value, Value: value}
		require.Contains(t, (&series{Points: []point{same, same}}).chart(), want, "one value, %v", value)
	}
}
