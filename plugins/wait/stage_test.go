// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"strconv"
	"sync"
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

// manualClock moves when the test says so.
type manualClock struct {
	mu     sync.Mutex
	time   time.Time
	timers map[chan time.Time]time.Time
}

func newManualClock() *manualClock {
	return &manualClock{time: time.Unix(1_800_000_000, 0), timers: make(map[chan time.Time]time.Time)}
}

func (c *manualClock) clock() clock { return clock{now: c.now, after: c.after} }

func (c *manualClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time
}

func (c *manualClock) after(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch := make(chan time.Time, 1)
	c.timers[ch] = c.time.Add(d)
	return ch
}

// advance moves the clock to its next timer; it waits for one.
func (c *manualClock) advance(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		for ch, at := range c.timers {
			c.time = at
			delete(c.timers, ch)
			ch <- at
			return true
		}
		return false
	}, time.Minute, time.Millisecond)
}

func start(t *testing.T, c *manualClock, opts wiretest.Options) *wiretest.Harness {
	t.Helper()
	return wiretest.Start(t, sdk.ForStages(&plugin{clock: c.clock()}), opts)
}

func TestWaitReportsItsProgressAndEndsInTime(t *testing.T) {
	t.Parallel()
	c := newManualClock()
	h := start(t, c, wiretest.Options{})
	ended := h.Go(t.Context(), t, stageWait, `{"duration":"25s"}`)
	h.Piped.WaitLog(t, "wait", "Waiting for 25s, until 2027-01-15T08:00:25Z")
	c.advance(t)
	h.Piped.WaitLog(t, "wait", "10s of 25s have passed")
	require.Equal(t, "Until 08:00:25 UTC", h.Piped.StageMetadata("wait")[sdk.DisplayMetadataKey])
	c.advance(t)
	h.Piped.WaitLog(t, "wait", "20s of 25s have passed")
	c.advance(t)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, <-ended)
	h.Piped.WaitLog(t, "wait", "Waited for 25s")
	require.Equal(t, "1800000000", h.Piped.StageMetadata("wait")[string(startTimeKey)])
}

func TestALongWaitWritesTenLines(t *testing.T) {
	t.Parallel()
	c := newManualClock()
	h := start(t, c, wiretest.Options{})
	ended := h.Go(t.Context(), t, stageWait, `{"duration":"10h"}`)
	for range 10 {
		c.advance(t)
	}
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, <-ended)
	require.Contains(t, h.Piped.Log("wait"), "9h0m0s of 10h0m0s have passed")
}

func TestASecondRunGoesOnWithTheClockOfTheFirst(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		started time.Duration // before now
		timers  int
	}{
		"part of the time is left": {started: 25 * time.Second, timers: 1},
		"no time is left":          {started: time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newManualClock()
			h := start(t, c, wiretest.Options{})
			h.Piped.SetStageMetadata("wait", string(startTimeKey),
				strconv.FormatInt(c.now().Add(-tc.started).Unix(), 10))
			ended := h.Go(t.Context(), t, stageWait, `{"duration":"30s"}`)
			for range tc.timers {
				c.advance(t)
			}
			require.Equal(t, model.StageStatus_STAGE_SUCCESS, <-ended)
			require.Contains(t, h.Piped.Log("wait"), "Going on with the wait of 30s")
		})
	}
}

func TestAStageThatAUserRunsOnceMoreWaitsItsWholeTime(t *testing.T) {
	t.Parallel()
	c := newManualClock()
	h := sdktest.Start(t, sdk.ForStages(&plugin{clock: c.clock()}), sdktest.Options{Name: "wait"})
	h.Piped.SetStageMetadata("wait", string(startTimeKey), strconv.FormatInt(c.now().Add(-time.Hour).Unix(), 10))
	for attempt := 2; attempt <= 3; attempt++ { // an attempt of the same run goes on with its clock
		ended := make(chan error, 1)
		go func() {
			_, err := h.Run(t.Context(), sdktest.Execution{Stage: stageWait, Options: `{"duration":"15s"}`,
				Attempt: attempt, Run: 2})
			ended <- err
		}()
		if attempt == 2 {
			h.Piped.WaitLog(t, "wait", "Waiting for 15s")
			c.advance(t)
			c.advance(t)
		}
		require.NoError(t, <-ended)
	}
	require.Contains(t, h.Piped.Log("wait"), "Going on with the wait of 15s that began at 2027-01-15T08:00:00Z")
}

func TestASkipEndsTheWait(t *testing.T) {
	t.Parallel()
	h := start(t, newManualClock(), wiretest.Options{})
	ended := h.Go(t.Context(), t, stageWait, `{"duration":"1h"}`)
	h.Piped.Approve("wait", "bob") // means nothing here
	h.Piped.Skip("wait", "alice")
	require.Equal(t, model.StageStatus_STAGE_SKIPPED, <-ended)
	require.Contains(t, h.Piped.Log("wait"), "alice skipped the rest of the wait after 0s")
	require.Equal(t, "Skipped by alice", h.Piped.StageMetadata("wait")[sdk.DisplayMetadataKey])
}

func TestACancelEndsTheWait(t *testing.T) {
	t.Parallel()
	h := start(t, newManualClock(), wiretest.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	ended := h.Go(ctx, t, stageWait, `{"duration":"1h"}`)
	h.Piped.WaitLog(t, "wait", "Waiting")
	cancel()
	<-ended
	h.Piped.WaitLog(t, "wait", "the stage was cancelled")
}

func TestAWaitWithoutDurationFailsAtPlanningAndWhenRun(t *testing.T) {
	t.Parallel()
	h := start(t, newManualClock(), wiretest.Options{})
	for _, with := range []string{`{}`, `{"duration":"0s"}`, `{"duration":-5}`} {
		_, err := build(t, h, with)
		require.Equal(t, codes.Internal, status.Code(err))
		require.ErrorContains(t, err, "stage 2 (WAIT): the stage's \"with\" is not valid: duration is required")
		require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, stageWait, with))
	}
	require.Contains(t, h.Piped.Log("wait"), "duration is required")
}

func TestASkipIsOfferedOnlyWhenConfigured(t *testing.T) {
	t.Parallel()
	stages, err := build(t, start(t, newManualClock(), wiretest.Options{}), `{"duration":"1s"}`)
	require.NoError(t, err)
	require.Equal(t, model.ManualOperation_MANUAL_OPERATION_NONE, stages[0].GetAvailableOperation(), "PipeCD v1")
	stages, err = build(t, start(t, newManualClock(), wiretest.Options{Config: config{AllowSkip: true}}),
		`{"duration":"1s"}`)
	require.NoError(t, err)
	require.Equal(t, model.ManualOperation_MANUAL_OPERATION_SKIP, stages[0].GetAvailableOperation())
}

func build(t *testing.T, h *wiretest.Harness, with string) ([]*model.PipelineStage, error) {
	t.Helper()
	resp, err := h.Deployment.BuildPipelineSyncStages(t.Context(), &deployment.BuildPipelineSyncStagesRequest{
		Stages: []*deployment.BuildPipelineSyncStagesRequest_StageConfig{{Name: stageWait, Index: 2,
			Config: []byte(with)}},
	})
	return resp.GetStages(), err
}
