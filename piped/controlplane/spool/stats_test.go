// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
)

func TestStatsShowWhatWaitsSinceWhenAndWhatWasLost(t *testing.T) {
	t.Parallel()
	w, dir := newWorld(t), t.TempDir()
	s := w.open(t, dir)
	stage(t, s, "through")
	require.Equal(t, Stats{}, s.Stats())

	w.stop()
	before := time.Now()
	stage(t, s, "a")
	stage(t, s, "b")
	stats := s.Stats()
	require.Equal(t, 2, stats.Reports)
	require.Positive(t, stats.Bytes)
	require.WithinRange(t, stats.Oldest, before, time.Now())
	require.Zero(t, stats.Dropped)

	require.NoError(t, s.Close())
	require.NoError(t, os.WriteFile(s.path(99), []byte("damaged"), 0o600))
	s = w.open(t, dir)
	again := s.Stats()
	require.Equal(t, 2, again.Reports)
	require.Equal(t, stats.Bytes, again.Bytes)
	require.WithinDuration(t, stats.Oldest, again.Oldest, time.Second)
	require.Equal(t, Dropped{Unreadable: 1}, again.Dropped)

	w.fail = failing("a", codes.InvalidArgument)
	w.back(t)
	run(t, s)
	empty(t, s)
	require.Equal(t, Stats{Dropped: Dropped{Unreadable: 1, Refused: 1}}, s.Stats())
}

func TestStatsShowThatReportsWaitForRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stop()
	s := w.open(t, t.TempDir(), func(o *Options) { o.MaxReports = 2 })
	stage(t, s, "a")
	liveLog(t, s, "a", 10)
	stage(t, s, "b") // takes the place of the log
	require.Equal(t, int64(1), s.Stats().Dropped.NoRoom)
	require.False(t, s.Stats().Full)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := s.ReportStageStatusChanged(ctx, stageRequest("c"))
		done <- err
	}()
	require.Eventually(t, func() bool { return s.Stats().Full }, wait, time.Millisecond)
	cancel()
	require.Error(t, <-done)
	require.False(t, s.Stats().Full)
}
