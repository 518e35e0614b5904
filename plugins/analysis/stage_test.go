// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

func TestGoodMetricsAreEvaluatedAtOnceThenEveryIntervalAndAtTheEnd(t *testing.T) {
	t.Parallel()
	c, s := newManualClock(), newServer(t, always(0.25, 0.5))
	h := start(t, c, s.URL, nil)
	ended := h.Go(t.Context(), t, stageAnalysis,
		stage("10m", `"query":"rate","interval":"5m","expected":{"min":0.25,"max":0.5}`))
	for n := 1; n <= 2; n++ {
		waitEvaluations(t, h, c, n)
		c.advance(5 * time.Minute)
	}
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, finish(c, ended))

	asked := s.queries()
	require.Len(t, asked, 3, "at 0, 5 and 10 minutes")
	require.Equal(t, "rate", asked[0].query)
	require.Equal(t, time.Minute, asked[0].step)
	for _, one := range asked {
		require.Equal(t, 5*time.Minute, one.end.Sub(one.start))
	}
	require.WithinDuration(t, begin, asked[0].end, time.Minute, "at once")
	log := h.Piped.Log("analysis")
	require.Contains(t, log, "metrics[0]: good: 0.25 to 0.5 (2 samples), expected 0.25 to 0.5; query: rate")
	require.Contains(t, log, "The analysis succeeded: 0 of 3 evaluations failed in 10m0s")
	require.Equal(t, 1, strings.Count(log, "metrics[0]: its provider says: a stand-in answers"), "said once")
	require.Contains(t, log, "max 0.5 ┤", "a chart")
	require.Equal(t, "10m0s", h.Piped.StageMetadata("analysis")[string(elapsedKey)])
}

func TestMoreFailuresThanTheLimitFailTheStage(t *testing.T) {
	t.Parallel()
	c, s := newManualClock(), newServer(t, always(0.9))
	h := start(t, c, s.URL, nil)
	ended := h.Go(t.Context(), t, stageAnalysis,
		stage("1h", `"query":"rate","interval":"5m","failureLimit":1,"expected":{"max":0.5}`))
	waitEvaluations(t, h, c, 1)
	c.advance(5 * time.Minute)
	require.Equal(t, model.StageStatus_STAGE_FAILURE, finish(c, ended))
	log := h.Piped.Log("analysis")
	require.Contains(t, log, "0.9 is too high; failure 1, failureLimit 1; query: rate")
	require.Contains(t, log, "metrics[0] has failed 2 times, more than its failureLimit 1")
}

func TestNoDataAndNaN(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]struct {
		values []float64
		keys   string
		want   model.StageStatus
		log    string
	}{
		"no series": {nil, "", model.StageStatus_STAGE_FAILURE,
			"no data: no series, expected at most 1; failure 1"},
		"NaN only": {[]float64{math.NaN()}, "", model.StageStatus_STAGE_FAILURE,
			"no data: the only sample is NaN, expected"},
		"no series, skipped": {nil, `,"skipOnNoData":true`, model.StageStatus_STAGE_SUCCESS,
			"not a failure: skipOnNoData is set"},
		"NaN only, skipped": {[]float64{math.NaN()}, `,"skipOnNoData":true`, model.StageStatus_STAGE_SUCCESS,
			"not a failure: skipOnNoData is set"},
		"NaN and values": {[]float64{math.NaN(), 1}, "", model.StageStatus_STAGE_SUCCESS,
			"1 (1 sample, and 1 of NaN)"},
		"infinity": {[]float64{math.Inf(1)}, "", model.StageStatus_STAGE_FAILURE,
			"bad: +Inf (1 sample), expected at most 1: +Inf is too high"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, s := newManualClock(), newServer(t, always(each.values...))
			if each.values == nil {
				s.set(func(asked) []float64 { return nil })
			}
			h := start(t, c, s.URL, nil)
			ended := h.Go(t.Context(), t, stageAnalysis,
				stage("10m", `"query":"q","interval":"9m","expected":{"max":1}`+each.keys))
			require.Equal(t, each.want, finish(c, ended))
			require.Contains(t, h.Piped.Log("analysis"), each.log)
		})
	}
}

func TestSamplesOfAnotherTimeAreNoData(t *testing.T) {
	t.Parallel()
	c := newManualClock()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"status":"success","data":{"resultType":"matrix","result":[{"values":[[%d,"1"]]}]}}`,
			begin.Add(-24*time.Hour).Unix())
	}))
	t.Cleanup(s.Close)
	h := start(t, c, s.URL, nil)
	ended := h.Go(t.Context(), t, stageAnalysis, stage("10m", `"query":"q","interval":"6m","expected":{"max":1}`))
	require.Equal(t, model.StageStatus_STAGE_FAILURE, finish(c, ended))
	require.Contains(t, h.Piped.Log("analysis"), "metrics[0]: no data: no samples of the time that was asked about, "+
		"and 1 of another time, expected at most 1; failure 1")
}

func TestTheFirstQueryMayHaveNoDataYet(t *testing.T) {
	t.Parallel()
	c, s := newManualClock(), newServer(t, func(one asked) []float64 {
		if one.end.Before(begin.Add(time.Minute)) {
			return nil
		}
		return []float64{1}
	})
	h := start(t, c, s.URL, nil)
	ended := h.Go(t.Context(), t, stageAnalysis, stage("10m", `"query":"q","interval":"6m","expected":{"max":1}`))
	waitEvaluations(t, h, c, 1)
	c.advance(6 * time.Minute)
	waitEvaluations(t, h, c, 2)
	c.advance(4 * time.Minute)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, finish(c, ended))
	require.Contains(t, h.Piped.Log("analysis"), "not a failure: the first query asks about the time before the stage")
}

func TestAQueryThatFailsIsAFailure(t *testing.T) {
	t.Parallel()
	c := newManualClock()
	h := start(t, c, "http://user:hidden@127.0.0.1:1", nil)
	require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, stageAnalysis,
		stage("10m", `"query":"q","interval":"5m","expected":{"max":1},"skipOnNoData":true`)))
	log := h.Piped.Log("analysis")
	require.Contains(t, log, "query failed: ask http://127.0.0.1:1/api/v1/query_range: ")
	require.NotContains(t, log, "hidden")
}

func TestASecondAttemptGoesOnWithTimeAndFailures(t *testing.T) {
	t.Parallel()
	c, s := newManualClock(), newServer(t, always(2))
	options := stage("10m", `"query":"q","interval":"4m","failureLimit":2,"expected":{"max":1}`)
	h := start(t, c, s.URL, nil)
	first, kill := context.WithCancel(t.Context())
	ended := h.Go(first, t, stageAnalysis, options)
	waitEvaluations(t, h, c, 1)
	c.advance(4 * time.Minute)
	waitEvaluations(t, h, c, 2)
	// A kill leaves what was noted, and nothing else: what the stage notes at its end is taken back.
	noted := h.Piped.StageMetadata("analysis")
	kill()
	<-ended
	h.Piped.Wait(t, "the end of the stage", func() bool { return h.Piped.Completed("analysis") })
	for key, value := range noted {
		h.Piped.SetStageMetadata("analysis", key, value)
	}
	c.advance(time.Hour) // while the plugin is away

	again := start(t, c, s.URL, h.Piped)
	ended = again.Go(t.Context(), t, stageAnalysis, options)
	again.Piped.WaitLog(t, "analysis", "Going on with the analysis of 10m0s after 4m")
	require.Len(t, s.queries(), 2, "the next evaluation is due in 4 minutes")
	s.set(always(1))
	c.advance(4*time.Minute + time.Second)
	waitEvaluations(t, again, c, 3)
	c.advance(2 * time.Minute)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, finish(c, ended))
	require.Len(t, s.queries(), 3)
	require.Contains(t, again.Piped.Log("analysis"), "2 of 3 evaluations failed")
}

func TestFailuresOfEarlierAttemptsCount(t *testing.T) {
	t.Parallel()
	c, s := newManualClock(), newServer(t, always(2))
	h := start(t, c, s.URL, nil)
	h.Piped.SetStageMetadata("analysis", string(elapsedKey), "8m0s")
	h.Piped.SetStageMetadata("analysis", string(countsKey), `{"metrics[0]":{"next":2,"evaluations":2,"failures":2}}`)
	require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, stageAnalysis,
		stage("10m", `"query":"q","interval":"4m","failureLimit":2,"expected":{"max":1}`)))
	require.Contains(t, h.Piped.Log("analysis"), "has failed 3 times, more than its failureLimit 2")
}

func TestAStageThatAUserRunsOnceMoreIsAnalysedFromItsStart(t *testing.T) {
	t.Parallel()
	c, s := newManualClock(), newServer(t, always(2))
	h := sdktest.Start(t, sdk.ForStages(&plugin{clock: c.clock()}),
		sdktest.Options{Name: "analysis", Config: configured(s.URL)})
	h.Piped.SetStageMetadata("analysis", string(elapsedKey), "10m0s")
	h.Piped.SetStageMetadata("analysis", string(countsKey), `{"metrics[0]":{"next":3,"evaluations":3}}`)
	ended, err := h.Run(t.Context(), sdktest.Execution{Stage: stageAnalysis, Attempt: 1, Run: 1,
		Options: stage("10m", `"query":"q","interval":"4m","expected":{"max":1}`)})
	require.NoError(t, err)
	require.Equal(t, sdk.StageFailure, ended.Status)
	require.Contains(t, ended.Reason, "has failed once")
}

func TestAnAnalysisGoesOnWhileNothingCanBeNoted(t *testing.T) {
	t.Parallel()
	c, s := newManualClock(), newServer(t, always(1))
	h := start(t, c, s.URL, nil)
	ended := h.Go(t.Context(), t, stageAnalysis, stage("10m", `"query":"q","interval":"4m","expected":{"max":1}`))
	waitEvaluations(t, h, c, 1)
	h.Piped.OnCall(func(call string) error {
		if strings.HasPrefix(call, "PutStageMetadata") {
			return status.Error(codes.ResourceExhausted, "not now")
		}
		return nil
	})
	s.set(always(2))
	require.Equal(t, model.StageStatus_STAGE_FAILURE, finish(c, ended))
	require.Contains(t, h.Piped.Log("analysis"), "2 is too high; failure 1, failureLimit 0", "metrics decide")
}

func TestASkipEndsTheAnalysis(t *testing.T) {
	t.Parallel()
	c, s := newManualClock(), newServer(t, always(1))
	h := start(t, c, s.URL, nil)
	ended := h.Go(t.Context(), t, stageAnalysis, stage("10m", `"query":"q","interval":"4m","expected":{"max":1}`))
	waitEvaluations(t, h, c, 1)
	h.Piped.Skip("analysis", "alice")
	require.Equal(t, model.StageStatus_STAGE_SKIPPED, <-ended)
	require.Contains(t, h.Piped.Log("analysis"), "alice skipped the rest of the analysis after ")
}

func TestACancelEndsTheAnalysisAndItsQueries(t *testing.T) {
	t.Parallel()
	gone, arrived := make(chan struct{}), make(chan struct{})
	c, s := newManualClock(), newServer(t, nil)
	s.set(func(asked) []float64 { close(arrived); <-gone; return nil })
	defer close(gone)
	h := start(t, c, s.URL, nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := h.Go(ctx, t, stageAnalysis, stage("10m", `"query":"q","interval":"4m","expected":{"max":1}`))
	<-arrived
	cancel()
	<-ended
	h.Piped.WaitLog(t, "analysis", "the stage was cancelled")
}

func TestADryRunSucceedsWhateverItFinds(t *testing.T) {
	t.Parallel()
	c, s := newManualClock(), newServer(t, always(2))
	h := start(t, c, s.URL, nil)
	ended := h.Go(t.Context(), t, stageAnalysis, strings.Replace(
		stage("10m", `"query":"q","interval":"9m","expected":{"max":1}`), "{", `{"dryRun":true,`, 1))
	waitEvaluations(t, h, c, 1)
	c.advance(9 * time.Minute)
	waitEvaluations(t, h, c, 2)
	c.advance(time.Minute)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, finish(c, ended))
	log := h.Piped.Log("analysis")
	require.Contains(t, log, "Dry run: the stage would fail here: metrics[0] has failed once")
	require.Contains(t, log, "The dry run of the analysis is over: 2 of 2 evaluations failed")
}

func TestWhatCanNeverBeEvaluatedIsRefusedAtPlanning(t *testing.T) {
	t.Parallel()
	h := start(t, newManualClock(), "http://127.0.0.1:1", nil)
	for _, c := range [][2]string{
		{`{}`, "duration is required"},
		{`{"duration":"5m","metrics":[]}`, "there is nothing to evaluate: the stage has no metrics, logs or https"},
		{stage("5m", `"query":"q","interval":"5m","expected":{"max":1}`), "interval 5m0s has to be shorter"},
		{stage("5m", `"query":"q","interval":"1m"`), "metrics[0]: expected.min or expected.max is required"},
		{stage("5m", `"query":"q","interval":"1m","strategy":"PREVIOUS","step":"30s"`), "give 3 samples a side, with " +
			"which no difference can be significant"},
		{`{"duration":"5m","metrics":[{"provider":"absent","query":"q","interval":"1m","expected":{"max":1}}]}`,
			"the provider absent is not among the analysisProviders of the piped configuration: prom"},
		{stage("5m", `"query":"q{{ .App","interval":"1m","expected":{"max":1}`),
			"metrics[0]: the variables of the query cannot be read"},
		{requestStage(`"url":"ftp://a/"`), "https[0]: url is not a URL of http or https"},
		{requestStage(`"url":"hidden"`), "https[0]: url is not a URL of http or https"},
		{requestStage(`"url":"http://{{ .App/"`), "https[0]: the variables of the url cannot be read"},
		{requestStage(`"url":"http://a","method":"GET IT"`), `https[0]: method is "GET IT": want one such as GET`},
		{requestStage(`"url":"http://a","headers":[{"key":"X Y","value":"hidden"}]`), `headers[0].key is "X Y"`},
		{requestStage(`"url":"http://a","headers":[{"key":"X","value":"hidden\n"}]`),
			"headers[0].value holds a line break"},
	} {
		_, err := plan(t, h, c[0])
		require.ErrorContains(t, err, c[1], c[0])
		require.NotContains(t, err.Error(), "hidden", "what may be a secret")
	}
	stages, err := plan(t, h, stage("5m", `"query":"q","interval":"1m","strategy":"PREVIOUS"`))
	require.NoError(t, err)
	require.Equal(t, model.ManualOperation_MANUAL_OPERATION_SKIP, stages[0].GetAvailableOperation(), "PipeCD v1")
}

func requestStage(keys string) string {
	return `{"duration":"5m","https":[{"interval":"1m",` + keys + `}]}`
}

func TestARequestThatCanNeverBeSentIsNotNoData(t *testing.T) {
	t.Parallel()
	c := newManualClock()
	h := start(t, c, "http://127.0.0.1:1", nil)
	for url, want := range map[string]string{
		"ftp://{{ .App.Name }}/":                   "https[0]: url is not a URL of http or https",
		"http://u:hidden@a/{{ .AppArgs.absent }}":  "https[0]: its variables cannot be filled in: ",
		"http://u:hidden@{{ .App.Name }}:no-port/": "https[0]: url is not a URL of http or https",
	} {
		ended := h.Go(t.Context(), t, stageAnalysis, requestStage(`"skipOnNoData":true,"url":"`+url+`"`))
		require.Equal(t, model.StageStatus_STAGE_FAILURE, finish(c, ended), url)
		require.Contains(t, h.Piped.Log("analysis"), want, url)
		require.NotContains(t, h.Piped.Log("analysis"), "hidden")
	}
}

func plan(t *testing.T, h *wiretest.Harness, with string) ([]*model.PipelineStage, error) {
	t.Helper()
	resp, err := h.Deployment.BuildPipelineSyncStages(t.Context(), &deployment.BuildPipelineSyncStagesRequest{
		Stages: []*deployment.BuildPipelineSyncStagesRequest_StageConfig{{Name: stageAnalysis, Index: 2,
			Config: []byte(with)}},
	})
	return resp.GetStages(), err
}
