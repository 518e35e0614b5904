// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package player

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/system/chantest"
)

// logStream hands on what a watcher of a log is sent.
type logStream struct {
	grpc.ServerStream
	ctx  context.Context
	sent chan *deckv1.WatchStageLogResponse
}

func (s *logStream) Context() context.Context { return s.ctx }

func (s *logStream) Send(r *deckv1.WatchStageLogResponse) error {
	s.sent <- r
	return nil
}

// watchLog watches the log of a stage until the returned function is called.
func watchLog(t *testing.T, p *Player, deployment, stage string) (sent chan *deckv1.WatchStageLogResponse, end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stream, ended := &logStream{ctx: ctx, sent: make(chan *deckv1.WatchStageLogResponse, 10)}, make(chan error, 1)
	go func() {
		ended <- NewServer(p).WatchStageLog(
			&deckv1.WatchStageLogRequest{DeploymentId: deployment, StageId: stage}, stream)
	}()
	return stream.sent, func() {
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
	}
}

func TestWatchersOfLogsThatDoNotExistLeaveNothingBehind(t *testing.T) {
	t.Parallel()
	p, _ := play(t)
	for i := range 20 {
		sent, end := watchLog(t, p, "d", fmt.Sprint("made-up-", i))
		require.Empty(t, chantest.Receive(t, sent).GetBlocks())
		end()
	}
	require.Empty(t, p.state.logs)
}

func TestAWatcherGetsALogThatBeginsLater(t *testing.T) {
	t.Parallel()
	p, c := play(t)
	p.step()
	sent, end := watchLog(t, p, "d", "s")
	defer end()
	require.Empty(t, chantest.Receive(t, sent).GetBlocks())
	c.goOn(12 * time.Second)
	p.step()
	require.Len(t, chantest.Receive(t, sent).GetBlocks(), 2)
	c.goOn(time.Second)
	p.step()
	require.Len(t, chantest.Receive(t, sent).GetBlocks(), 1, "nothing twice")
}
