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
