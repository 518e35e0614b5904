// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

// gatedPiped takes log calls only when its gate is open.
type gatedPiped struct {
	pluginservice.PluginServiceClient
	gate    chan struct{}
	entered chan struct{} // a value for each of the first calls

	mu     sync.Mutex
	bytes  int
	blocks int
}

func newGatedPiped() *gatedPiped {
	return &gatedPiped{gate: make(chan struct{}), entered: make(chan struct{}, 100)}
}

func (p *gatedPiped) pass(ctx context.Context, blocks []*model.LogBlock) error {
	select {
	case p.entered <- struct{}{}:
	default: // no one counts that far
	}
	select {
	case <-p.gate:
	case <-ctx.Done():
		return ctx.Err()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.blocks = len(blocks)
	p.bytes = 0
	for _, block := range blocks {
		p.bytes += len(block.GetLog())
	}
	return nil
}

func (p *gatedPiped) ReportStageLogs(ctx context.Context, req *pluginservice.ReportStageLogsRequest,
	_ ...grpc.CallOption) (*pluginservice.ReportStageLogsResponse, error) {
	return &pluginservice.ReportStageLogsResponse{}, p.pass(ctx, req.GetBlocks())
}

func (p *gatedPiped) ReportStageLogsFromLastCheckpoint(ctx context.Context,
	req *pluginservice.ReportStageLogsFromLastCheckpointRequest,
	_ ...grpc.CallOption) (*pluginservice.ReportStageLogsFromLastCheckpointResponse, error) {
	return &pluginservice.ReportStageLogsFromLastCheckpointResponse{}, p.pass(ctx, req.GetBlocks())
}

func (q *logQueue) queuedBytes() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.bytes
}

func startTestSender(piped pluginservice.PluginServiceClient) *logSender {
	return startLogSender(logOptions{piped: piped, id: logID{deployment: "deployment", stage: "stage"},
		logger: slog.New(slog.DiscardHandler), now: time.Now, pause: pause})
}

func TestWhatIsQueuedDuringACallGoesWithTheNext(t *testing.T) {
	t.Parallel()
	piped := newGatedPiped()
	s := startTestSender(piped)
	log := newStageLog(s.queue)
	log.Info("first")
	<-piped.entered
	for range 100 {
		log.Info("more")
	}
	close(piped.gate)
	s.close()
	require.LessOrEqual(t, len(piped.entered), 2, "one or two calls for a hundred entries")
	require.Equal(t, 101, piped.blocks, "the last call repeats what came since the last checkpoint")
}

func TestAFullQueueHoldsTheWriterAndStaysBounded(t *testing.T) {
	t.Parallel()
	piped := newGatedPiped()
	s := startTestSender(piped)
	log := newStageLog(s.queue)
	const entries, size = 400, 32 << 10
	text := string(make([]byte, size))
	written := make(chan struct{})
	go func() {
		defer close(written)
		for range entries {
			log.Info(text)
		}
	}()
	require.Eventually(t, func() bool { return s.queue.queuedBytes() > maxQueueBytes-2*size }, time.Minute,
		time.Millisecond)
	require.LessOrEqual(t, s.queue.queuedBytes(), maxQueueBytes)
	select {
	case <-written:
		t.Fatal("the writer should wait")
	default:
	}
	close(piped.gate)
	<-written
	s.close()
	require.Zero(t, s.queue.losses())
	require.LessOrEqual(t, piped.bytes, maxCheckpointBytes+maxBatchBytes)
}

func TestASenderThatGaveUpHoldsNoWriter(t *testing.T) {
	t.Parallel()
	s := startTestSender(newGatedPiped())
	log := newStageLog(s.queue)
	written := make(chan struct{})
	go func() {
		defer close(written)
		for range 400 {
			log.Info(string(make([]byte, 32<<10)))
		}
	}()
	require.Eventually(t, func() bool { return s.queue.queuedBytes() > maxQueueBytes/2 }, time.Minute,
		time.Millisecond)
	defer s.limit(time.Millisecond)()
	<-written
	s.close()
	require.Positive(t, s.queue.losses())
}

// slowPiped takes its time for each call.
type slowPiped struct {
	pluginservice.PluginServiceClient
	time  time.Duration
	calls int
}

func (p *slowPiped) ReportStageLogs(ctx context.Context, _ *pluginservice.ReportStageLogsRequest,
	_ ...grpc.CallOption) (*pluginservice.ReportStageLogsResponse, error) {
	pause(ctx, p.time)
	p.calls++
	return &pluginservice.ReportStageLogsResponse{}, ctx.Err()
}

func (p *slowPiped) ReportStageLogsFromLastCheckpoint(ctx context.Context,
	_ *pluginservice.ReportStageLogsFromLastCheckpointRequest, _ ...grpc.CallOption,
) (*pluginservice.ReportStageLogsFromLastCheckpointResponse, error) {
	pause(ctx, p.time)
	p.calls++
	return &pluginservice.ReportStageLogsFromLastCheckpointResponse{}, ctx.Err()
}

func TestTheEndOfALogIsWaitedForAsLongAsPipedTakesSome(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		piped := &slowPiped{time: giveUpAfter * 2 / 3}
		s := startTestSender(piped)
		newStageLog(s.queue).Info(strings.Repeat("x", 4*maxBatchBytes))
		s.close()
		require.Zero(t, s.queue.losses())
		require.Greater(t, piped.calls, 3, "together they take longer than one may")
	})
}

// busyPiped refuses the first calls for a passing reason, and notes the methods of the others.
type busyPiped struct {
	pluginservice.PluginServiceClient
	calls chan string // with room for all calls
	busy  int
}

func (p *busyPiped) call(method string) error {
	if p.busy > 0 {
		p.busy--
		return status.Error(codes.Unavailable, "busy")
	}
	p.calls <- method
	return nil
}

func (p *busyPiped) ReportStageLogs(context.Context, *pluginservice.ReportStageLogsRequest,
	...grpc.CallOption) (*pluginservice.ReportStageLogsResponse, error) {
	return &pluginservice.ReportStageLogsResponse{}, p.call("logs")
}

func (p *busyPiped) ReportStageLogsFromLastCheckpoint(context.Context,
	*pluginservice.ReportStageLogsFromLastCheckpointRequest, ...grpc.CallOption,
) (*pluginservice.ReportStageLogsFromLastCheckpointResponse, error) {
	return &pluginservice.ReportStageLogsFromLastCheckpointResponse{}, p.call("checkpoint")
}

func TestPausesBetweenLogCallsDouble(t *testing.T) {
	t.Parallel()
	piped := &busyPiped{calls: make(chan string, 10), busy: 9}
	var pauses []time.Duration
	s := startLogSender(logOptions{piped: piped, logger: slog.New(slog.DiscardHandler), now: time.Now,
		pause: func(_ context.Context, d time.Duration) { pauses = append(pauses, d/time.Millisecond) }})
	s.close()
	require.Equal(t, []time.Duration{20, 40, 80, 160, 320, 640, 1280, 2000, 2000}, pauses)
	require.Equal(t, "checkpoint", <-piped.calls)
}

func TestPipedStoresTheLogOfALongStageNowAndThen(t *testing.T) {
	t.Parallel()
	piped := &busyPiped{calls: make(chan string, 10)}
	var now atomic.Int64
	s := startLogSender(logOptions{piped: piped, logger: slog.New(slog.DiscardHandler), pause: pause,
		now: func() time.Time { return time.Unix(now.Load(), 0) }})
	log := newStageLog(s.queue)
	for _, step := range []struct {
		after time.Duration
		want  string
	}{{0, "logs"}, {checkpointEvery, "logs"}, {time.Second, "checkpoint"}, {checkpointEvery, "logs"}} {
		now.Add(int64(step.after / time.Second))
		log.Info("line")
		require.Equal(t, step.want, <-piped.calls, "after %v", step.after)
	}
	s.close()
	require.Equal(t, "checkpoint", <-piped.calls)
}
