// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func TestAllPausesOfADeploymentCount(t *testing.T) {
	t.Parallel()
	began := time.UnixMilli(1_000_000)
	stage := func(id, note string, requires ...string) *model.PipelineStage {
		return &model.PipelineStage{Id: id, Requires: requires, Metadata: map[string]string{pauseKey: note}}
	}
	since := began.Add(20 * time.Second).UnixMilli()
	d := &model.Deployment{Stages: []*model.PipelineStage{
		stage("a", `{"held":1000}`),
		stage("b", fmt.Sprintf(`{"when":"after","since":%d,"held":2000}`, since), "a"),
		stage("c", fmt.Sprintf(`{"when":"before","since":%d}`, since), "a"),
		stage("d", fmt.Sprintf(`{"when":"before","since":%d,"held":500}`, since), "b", "c"),
		stage("e", `{`),
	}}
	times := map[string]store.StageTimes{
		"b": {Started: began, Completed: began.Add(30 * time.Second)},
		"c": {Started: began, Completed: began.Add(25 * time.Second)},
	}
	require.Equal(t, 13500*time.Millisecond, pausedInAll(d, times).AsDuration(), "b and c are paused together")
	require.Nil(t, pausedInAll(&model.Deployment{Stages: []*model.PipelineStage{{Id: "a"}}}, nil))
}

func TestAStageThatWasPausedAfterItRanSaysForHowLong(t *testing.T) {
	t.Parallel()
	began := time.UnixMilli(1_000_000)
	times := store.StageTimes{Started: began, Completed: began.Add(time.Minute)}
	paused := func(when string, since time.Duration, times store.StageTimes) time.Duration {
		note := fmt.Sprintf(`{"when":%q,"since":%d}`, when, began.Add(since).UnixMilli())
		return pausedTime(&model.PipelineStage{Metadata: map[string]string{pauseKey: note}}, times).AsDuration()
	}
	require.Equal(t, 50*time.Second, paused("after", 10*time.Second, times))
	require.Equal(t, 50*time.Second, paused("failure", 10*time.Second, times))
	require.Zero(t, paused("before", -10*time.Second, times), "its time begins after that")
	require.Zero(t, paused("after", -10*time.Second, times), "of an earlier attempt")
	require.Zero(t, paused("", 0, times))
	require.Zero(t, paused("after", 10*time.Second, store.StageTimes{Started: began}), "it is paused still")
	require.Nil(t, pausedTime(&model.PipelineStage{}, times))
}
