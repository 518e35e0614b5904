// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spool

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	ps "github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/piped/controlplane"
)

func bounds(bytes int64, reports int) func(*Options) {
	return func(o *Options) { o.MaxBytes, o.MaxReports = bytes, reports }
}

// onDisk is what the reports take; it is what the spool believes, too.
func onDisk(t *testing.T, s *opened) int64 {
	t.Helper()
	var sum int64
	for _, file := range files(t, s.options.Dir) {
		info, err := os.Stat(file)
		require.NoError(t, err)
		sum += info.Size()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Equal(t, s.bytes, sum)
	require.LessOrEqual(t, sum, s.options.MaxBytes)
	require.LessOrEqual(t, len(s.queue), s.options.MaxReports)
	return sum
}

func TestAFullSpoolDropsLogsAndKeepsAllElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stop()
	s := w.open(t, t.TempDir(), bounds(20_000, 1000))
	stage(t, s, "start")
	for i := range 30 {
		liveLog(t, s, "a", 1000)
		checkpointLog(t, s, "a", i+1, 1000, i == 29)
		stage(t, s, fmt.Sprint(i))
		onDisk(t, s)
	}
	// A restart keeps what was decided.
	s = w.open(t, s.options.Dir, bounds(20_000, 1000))
	onDisk(t, s)
	w.back(t)
	run(t, s)
	empty(t, s)
	var stages []string
	for _, call := range w.heard() {
		require.NotContains(t, call, "ReportStageLogs ", "what comes again gives way first")
		if call != "ReportStageLogsFromLastCheckpoint a" {
			stages = append(stages, call)
		}
	}
	want := []string{"ReportStageStatusChanged start"}
	for i := range 30 {
		want = append(want, fmt.Sprint("ReportStageStatusChanged ", i))
	}
	require.Equal(t, want, stages)
	left, short := countLeftOut(w.logs[0])
	require.True(t, short)
	require.Equal(t, 30, left+len(w.logs)-1, "each log is reported or counted")
	require.EqualValues(t, 1, w.logs[0].GetBlocks()[0].GetIndex(), "in the place of what it stands for")
	require.Greater(t, len(w.logs), 5, "the newest are kept")
	for i, log := range w.logs[1:] {
		_, short := countLeftOut(log)
		require.False(t, short, "one line says it all")
		require.Equal(t, i == len(w.logs)-2, log.GetCompleted())
	}
}

func TestALogThatNeverFitsIsALine(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stop()
	s := w.open(t, t.TempDir(), bounds(8_000, 1000))
	stage(t, s, "start")
	checkpointLog(t, s, "a", 1, 100, false)
	liveLog(t, s, "a", 5_000)
	checkpointLog(t, s, "a", 2, 5_000, false)
	checkpointLog(t, s, "a", 3, 5_000, false)
	checkpointLog(t, s, "a", 4, 5_000, true)
	onDisk(t, s)
	w.back(t)
	run(t, s)
	empty(t, s)
	require.Len(t, w.logs, 3)
	require.EqualValues(t, 1, w.logs[0].GetBlocks()[0].GetIndex())
	_, short := countLeftOut(w.logs[0])
	require.False(t, short, "small ones need not go")
	left, _ := countLeftOut(w.logs[1])
	require.Equal(t, 2, left)
	require.False(t, w.logs[1].GetCompleted())
	left, _ = countLeftOut(w.logs[2])
	require.Equal(t, 1, left)
	require.True(t, w.logs[2].GetCompleted(), "the end of a log is always reported")
}

func TestCallersWaitWhenNoLogIsLeftToDrop(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stop()
	waiting := newLine("no room to keep a report; its caller waits")
	s := w.open(t, t.TempDir(), bounds(1<<20, 5), func(o *Options) { o.Logger = slog.New(waiting) })
	for i := range 5 {
		stage(t, s, fmt.Sprint(i))
	}
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.keepStage(impatient, "lost")
	require.Equal(t, codes.Canceled, status.Code(err), "the caller learns that it is not kept")
	waiting.await(t)
	_, err = s.keepStage(controlplane.Once(t.Context()), "lost")
	require.Equal(t, codes.Unavailable, status.Code(err), "a caller that does not wait learns it at once")

	kept := make(chan error, 1)
	go func() {
		_, err := s.ReportStageStatusChanged(context.Background(), stageRequest("5"))
		kept <- err
	}()
	waiting.await(t)
	require.Empty(t, kept)
	onDisk(t, s)
	w.back(t)
	run(t, s)
	require.NoError(t, <-kept)
	require.Equal(t, "ReportStageStatusChanged 5", w.await(t, 6)[5])
}

// line is a logger that waits for a message.
type line struct {
	slog.Handler
	text string
	seen chan struct{}
}

func newLine(text string) *line {
	return &line{slog.DiscardHandler, text, make(chan struct{}, 100)}
}

func (l *line) Enabled(context.Context, slog.Level) bool { return true }

func (l *line) Handle(_ context.Context, r slog.Record) error {
	if r.Message == l.text {
		l.seen <- struct{}{}
	}
	return nil
}

func (l *line) await(t *testing.T) {
	t.Helper()
	select {
	case <-l.seen:
	case <-time.After(wait):
		require.Fail(t, "never logged: "+l.text)
	}
}

func (s *opened) keepStage(ctx context.Context, id string) (*ps.ReportStageStatusChangedResponse, error) {
	return s.ReportStageStatusChanged(ctx, stageRequest(id))
}

func TestADiskThatFailsIsTheCallersToWaitFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stop()
	dir := t.TempDir()
	s := w.open(t, dir)
	require.NoError(t, os.Remove(dir))
	_, err := s.keepStage(t.Context(), "a")
	require.Equal(t, codes.Unavailable, status.Code(err))
	require.ErrorContains(t, err, "see that the disk of the work directory has room")
	require.Zero(t, s.Waiting())
}
