// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rerun

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/controlplane/controlplanetest"
	"github.com/pipedeck/pipedeck/piped/scheduler"
)

// plane is a control plane whose user leaves once left is closed.
type plane struct {
	agentv1.UnimplementedStageRerunServiceServer
	got  chan *agentv1.ReportStageRerunRequest
	left chan struct{}
}

func (p *plane) ReportStageRerun(
	stream grpc.ClientStreamingServer[agentv1.ReportStageRerunRequest, agentv1.ReportStageRerunResponse],
) error {
	whole := make(chan struct{})
	go func() {
		defer close(whole)
		for message, err := stream.Recv(); err == nil; message, err = stream.Recv() {
			p.got <- message
		}
	}()
	select {
	case <-whole:
	case <-p.left:
	}
	return stream.SendAndClose(&agentv1.ReportStageRerunResponse{})
}

// stages executes stages as a test says.
type stages func(ctx, work context.Context, log func([]*model.LogBlock)) (scheduler.RerunResult, error)

func (s stages) Rerun(
	ctx, work context.Context, _, _ string, log func([]*model.LogBlock),
) (scheduler.RerunResult, error) {
	return s(ctx, work, log)
}

func runner(t *testing.T, s stages) (*Runner, *plane) {
	t.Helper()
	p := &plane{got: make(chan *agentv1.ReportStageRerunRequest, 100), left: make(chan struct{})}
	server := grpc.NewServer()
	agentv1.RegisterStageRerunServiceServer(server, p)
	conn, err := grpc.NewClient(controlplanetest.ServeGRPC(t, server),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	mask := func(text string) string { return strings.ReplaceAll(text, "secret", "***") }
	return NewRunner(s, agentv1.NewStageRerunServiceClient(conn), mask, slog.New(slog.DiscardHandler)), p
}

// texts are the messages in a few words.
func (p *plane) texts() (all []string) {
	for {
		select {
		case m := <-p.got:
			for _, block := range m.GetLog().GetBlocks() {
				all = append(all, "log "+block.GetLog())
			}
			if r := m.GetResult(); r != nil {
				all = append(all, fmt.Sprintf("%s %s %d", r.GetStatus(), r.GetReason(), r.GetForgotten()))
			}
			if m.GetRefusal() != "" {
				all = append(all, "refused "+m.GetRefusal())
			}
		default:
			return all
		}
	}
}

func TestARerunIsReportedWithoutSecrets(t *testing.T) {
	t.Parallel()
	lines := make([]*model.LogBlock, maxBlocks+1)
	for i := range lines {
		lines[i] = &model.LogBlock{Index: int64(i + 1), Log: "a secret"}
	}
	r, p := runner(t, func(_, _ context.Context, log func([]*model.LogBlock)) (scheduler.RerunResult, error) {
		log(lines)
		return scheduler.RerunResult{Status: model.StageStatus_STAGE_FAILURE, Reason: "no secret", Forgotten: 2}, nil
	})
	r.Begin(t.Context(), &agentv1.StageRerun{Id: 7})
	r.Wait()
	got := p.texts()
	require.Len(t, got, maxBlocks+2)
	require.Equal(t, "log a ***", got[maxBlocks])
	require.Equal(t, "STAGE_FAILURE no *** 2", got[maxBlocks+1])
	require.Equal(t, "a secret", lines[0].GetLog(), "blocks belong to the plugin")

	for err, want := range map[error]string{
		&scheduler.RerunRefusal{Reason: "not now", NextStep: "later"}: "refused not now; later",
		errors.New("a secret is lost"):                                "refused a *** is lost; see the log of piped",
	} {
		r, p := runner(t, func(_, _ context.Context, _ func([]*model.LogBlock)) (scheduler.RerunResult, error) {
			return scheduler.RerunResult{}, err
		})
		r.Begin(t.Context(), &agentv1.StageRerun{Id: 7})
		r.Wait()
		require.Equal(t, []string{want}, p.texts())
	}
}

func TestAUserWhoLeavesCancelsTheRerunAndOneTooManyIsRefused(t *testing.T) {
	t.Parallel()
	running, causes := make(chan struct{}, maxRunning), make(chan error, maxRunning)
	r, p := runner(t, func(_, work context.Context, _ func([]*model.LogBlock)) (scheduler.RerunResult, error) {
		running <- struct{}{}
		<-work.Done()
		causes <- context.Cause(work)
		return scheduler.RerunResult{Status: model.StageStatus_STAGE_CANCELLED}, nil
	})
	for range maxRunning {
		r.Begin(t.Context(), &agentv1.StageRerun{})
	}
	for range maxRunning {
		<-running
	}
	p.texts()
	r.Begin(t.Context(), &agentv1.StageRerun{})
	for refused := false; !refused; {
		refused = (<-p.got).GetRefusal() == "too many stages are being re-run; end one with Ctrl-C"
	}
	close(p.left)
	r.Wait()
	for range maxRunning {
		require.Equal(t, scheduler.LeftRerun(), <-causes)
	}
}

func TestAPipedThatStopsEndsItsReruns(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	r, _ := runner(t, func(ctx, work context.Context, _ func([]*model.LogBlock)) (scheduler.RerunResult, error) {
		stop()
		<-work.Done()
		require.Error(t, ctx.Err())
		return scheduler.RerunResult{Status: model.StageStatus_STAGE_CANCELLED}, nil
	})
	r.Begin(ctx, &agentv1.StageRerun{})
	r.Wait()
}
