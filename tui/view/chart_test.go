// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/theme"
)

func chartsOf(series string, width int) string {
	metadata := map[string]string{seriesKey: series, "other": "note"}
	v := Inspector{Theme: theme.New(theme.Options{NoColor: true}), Run: &deckv1.GetStageRunResponse{Metadata: metadata}}
	return strings.Join(append(v.charts(width), v.notes(width)...), "\n")
}

func TestTheMetricsOfAnAnalysisAreDrawnInSignsThatNeedNoColour(t *testing.T) {
	t.Parallel()
	drawn := chartsOf(`[{"name":"metrics[0]","query":"errors","max":0.5,"points":[
		{"low":0,"high":0.2,"value":0.1,"verdict":"good"},{"empty":true,"verdict":"no data"},
		{"low":1,"high":1,"value":1,"other":0.2,"verdict":"bad"}]},
		{"name":"https[0]","query":"GET /","points":[{"empty":true}]}]`, 60)
	require.Contains(t, drawn, " metrics[0]: errors\n"+
		" 1          |   X\n"+
		"            |\n"+
		" - 0.5      | ---\n"+
		"            |\n"+
		"            | o +\n"+
		" 0          | |?\n")
	require.NotContains(t, drawn, "GET /", "it has no values")
	require.NotContains(t, drawn, "low", "the metadata that is drawn is not shown again")
	require.Contains(t, drawn, "other: note")
}

func TestChartsOfAnyNumbersAndForms(t *testing.T) {
	t.Parallel()
	for _, series := range []string{
		`[{"points":[{"low":5,"high":5,"value":5}]}]`, `[{"points":[{"low":0,"high":0,"value":0}]}]`,
		`[{"points":[{"low":-1.7e308,"high":1.7e308,"value":1e308}],"min":1.7e308}]`,
		`[{"points":[{"low":1.7e308,"high":1.7e308,"value":0}]}]`,
		`[{"points":[{"low":2,"high":1,"value":9}, {"low":1,"high":2,"value":9}]}]`,
		`[{"points":[{"low":5e-324,"high":1e-323,"value":5e-324}]}]`,
	} {
		require.Contains(t, chartsOf(series, 40), "median", series)
	}
	for _, series := range []string{"", "x", "[]", `{"a":1}`, `[{"points":[{"low":"a"}]}]`} {
		require.NotContains(t, chartsOf(series, 40), "median", series)
	}
	infinite := `[{"points":[{"low":1.7976931348623157e308,"high":1.7976931348623157e308,"value":1}],"max":2}]`
	require.Contains(t, chartsOf(infinite, 40), "+Inf")
	require.NotContains(t, chartsOf(`[{"points":[{"low":5,"high":5,"value":5}]}]`, 10), "median", "there is no room")
}
