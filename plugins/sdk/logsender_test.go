// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
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
	req *pluginservice.ReportStageLogsFromLastCheckpointRequest, _ ...grpc.CallOption) (*pluginservice.ReportStageLogsFromLastCheckpointResponse, error) {
	return &pluginservice.ReportStageLogsFromLastCheckpointResponse{}, p.pass(ctx, req.GetBlocks())
}

func (s *logSender) queuedBytes() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queued
}

func startTestSender(piped pluginservice.PluginServiceClient) *logSender {
	return startLogSender(piped, nil, "deployment", &model.PipelineStage{Id: "stage"}, slog.New(slog.DiscardHandler))
}

func TestWhatIsQueuedDuringACallGoesWithTheNext(t *testing.T) {
	t.Parallel()
	piped := newGatedPiped()
	s := startTestSender(piped)
	log := newStageLog(s)
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
	log := newStageLog(s)
	const entries, size = 400, 32 << 10
	text := string(make([]byte, size))
	written := make(chan struct{})
	go func() {
		defer close(written)
		for range entries {
			log.Info(text)
		}
	}()
	require.Eventually(t, func() bool { return s.queuedBytes() > maxQueueBytes-2*size }, 10*time.Second,
		time.Millisecond)
	require.LessOrEqual(t, s.queuedBytes(), maxQueueBytes)
	select {
	case <-written:
		require.Fail(t, "the writer should wait")
	default:
	}
	close(piped.gate)
	<-written
	s.close()
	require.Zero(t, s.lost)
	require.LessOrEqual(t, piped.bytes, maxCheckpointBytes+maxBatchBytes)
}

func TestASenderThatGaveUpHoldsNobody(t *testing.T) {
	t.Parallel()
	s := startTestSender(newGatedPiped())
	log := newStageLog(s)
	written := make(chan struct{})
	go func() {
		defer close(written)
		for range 400 {
			log.Info(string(make([]byte, 32<<10)))
		}
	}()
	require.Eventually(t, func() bool { return s.queuedBytes() > maxQueueBytes/2 }, 10*time.Second, time.Millisecond)
	defer s.limit(time.Millisecond)()
	<-written
	s.close()
	require.Positive(t, s.lost)
}
