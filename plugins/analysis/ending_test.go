// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/analysis/config"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

func TestASuccessThatVerifiedNothingSaysSo(t *testing.T) {
	t.Parallel()
	const variant = `"interval":"4m","strategy":"CANARY_PRIMARY","query":"q"`
	late := func(one asked) []float64 {
		if one.end.Before(begin.Add(4 * time.Minute)) {
			return nil
		}
		return []float64{1}
	}
	for name, c := range map[string]struct {
		answer func(asked) []float64
		metric string
		log    []string
	}{
		"a failureLimit that is never exceeded": {always(2),
			`"query":"q","interval":"4m","expected":{"max":1},"failureLimit":50`, []string{
				"Warning: metrics[0]: failureLimit 50 allows each of the 3 evaluations to fail, so the entry can never",
				"Warning: metrics[0]: all 3 evaluations failed, which failureLimit 50 allows",
				"The analysis is over, with the warnings above: 3 of 3 evaluations failed in 10m0s",
			}},
		"never any data": {always(), `"query":"q","interval":"4m","expected":{"max":1},"skipOnNoData":true`, []string{
			"Warning: metrics[0]: no evaluation had data: nothing was verified",
			"The analysis is over, with the warnings above: 0 of 3 evaluations failed and 3 had no data in 10m0s",
		}},
		"a query of no variant": {always(spread(1)...), variant, []string{
			"Warning: metrics[0]: the query " + config.ComparesItself,
			"The analysis is over, with the warnings above: 0 of 3 evaluations failed in 10m0s",
		}},
		"limits of a comparison": {always(spread(1)...), variant + `,"expected":{"max":1}`, []string{
			"Warning: metrics[0]: expected is not used: strategy CANARY_PRIMARY compares samples with each other.",
		}},
		"no earlier analysis": {always(spread(1)...), `"query":"q","interval":"4m","strategy":"PREVIOUS"`, []string{
			"Warning: metrics[0]: there was no earlier successful analysis to compare with: nothing was verified",
		}},
		"no data in one evaluation": {late, `"query":"q","interval":"4m","expected":{"max":3}`,
			[]string{"The analysis succeeded: 0 of 3 evaluations failed and 1 had no data in 10m0s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock, s := newManualClock(), newServer(t, c.answer)
			h := start(t, clock, s.URL, nil)
			ended := h.Go(t.Context(), t, stageAnalysis, stage("10m", c.metric))
			require.Equal(t, model.StageStatus_STAGE_SUCCESS, finish(clock, ended), h.Piped.Log("analysis"))
			for _, text := range c.log {
				require.Contains(t, h.Piped.Log("analysis"), text)
			}
		})
	}
}

func TestTheProgressGoesOnBetweenTwoEvaluations(t *testing.T) {
	t.Parallel()
	c, s := newManualClock(), newServer(t, always(1))
	h := start(t, c, s.URL, nil)
	ended := h.Go(t.Context(), t, stageAnalysis, stage("22s", `"query":"q","interval":"20s","expected":{"max":1}`))
	waitEvaluations(t, h, c, 1)
	require.Eventually(t, func() bool {
		if c.awaited() && c.now().Before(begin.Add(13*time.Second)) {
			c.advance(100 * time.Millisecond)
		}
		var shown sdk.Progress
		_ = json.Unmarshal([]byte(h.Piped.StageMetadata("analysis")[sdk.ProgressMetadataKey]), &shown)
		return shown.Done >= 50 && shown.Text == "1 evaluation"
	}, time.Minute, time.Millisecond, "the progress after half of the time")
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, finish(c, ended))
	require.Equal(t, `{"done":100,"total":100,"text":"2 evaluations"}`,
		h.Piped.StageMetadata("analysis")[sdk.ProgressMetadataKey])
}
