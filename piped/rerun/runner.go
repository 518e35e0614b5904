// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package rerun

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/plugincalls"
	"github.com/pipedeck/pipedeck/piped/scheduler"
)

// maxRunning bounds the re-runs at the same time: each has its own checkouts.
const maxRunning = 4

// reportTimeout bounds how long the control plane takes to receive the end of a report.
const reportTimeout = 10 * time.Second

// Stages executes stages once more.
type Stages interface {
	// Rerun returns a *scheduler.RerunRefusal when the stage cannot be re-run. log is called with one batch at a time.
	Rerun(ctx, work context.Context, deploymentID, stageID string, log func([]*model.LogBlock)) (
		scheduler.RerunResult, error)
}

// Client is how a Runner reaches the control plane.
type Client interface {
	ReportStageRerun(ctx context.Context, opts ...grpc.CallOption) (
		grpc.ClientStreamingClient[agentv1.ReportStageRerunRequest, agentv1.ReportStageRerunResponse], error)
}

var _ Stages = (*scheduler.Controller)(nil)

// Runner runs what users ask for.
type Runner struct {
	stages  Stages
	client  Client
	mask    func(string) string
	logger  *slog.Logger
	running sync.WaitGroup
	room    chan struct{}
}

// NewRunner creates a Runner. mask hides secrets in a text.
func NewRunner(stages Stages, client Client, mask func(string) string, logger *slog.Logger) *Runner {
	return &Runner{stages: stages, client: client, mask: mask, logger: logger, room: make(chan struct{}, maxRunning)}
}

// Begin begins a re-run, which ends with ctx at the latest.
func (r *Runner) Begin(ctx context.Context, wanted *agentv1.StageRerun) {
	r.running.Go(func() {
		if err := r.run(ctx, wanted); err != nil && ctx.Err() == nil {
			r.logger.Debug("a re-run was not reported", "stage", wanted.GetStageId(), "error", err)
		}
	})
}

// Wait returns when no re-run is under way.
func (r *Runner) Wait() { r.running.Wait() }

func (r *Runner) run(ctx context.Context, wanted *agentv1.StageRerun) error {
	reporting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	stream, err := r.client.ReportStageRerun(reporting)
	if err != nil {
		return err
	}
	to := &report{stream: stream, id: wanted.GetId(), mask: r.mask}
	work, end := context.WithCancelCause(ctx)
	defer end(nil)
	var watching sync.WaitGroup
	watching.Go(func() {
		_ = stream.RecvMsg(&agentv1.ReportStageRerunResponse{}) // returns when the control plane ends the call
		end(scheduler.LeftRerun())
	})
	defer func() { // the control plane answers once it has all messages
		late := time.AfterFunc(reportTimeout, cancel)
		defer late.Stop()
		watching.Wait()
	}()
	to.send(&agentv1.ReportStageRerunRequest{}) // the user learns that piped has it
	select {
	case r.room <- struct{}{}:
		defer func() { <-r.room }()
	default:
		to.refuse(&scheduler.RerunRefusal{Reason: "too many stages are being re-run", NextStep: "end one with Ctrl-C"})
		return to.close()
	}
	var began time.Time
	work = plugincalls.WithRerun(work, func(plugin, build string) {
		began = time.Now()
		to.send(&agentv1.ReportStageRerunRequest{Kind: &agentv1.ReportStageRerunRequest_Began{
			Began: &agentv1.StageRerunBegan{Plugin: plugin, Build: build}}})
	})
	result, err := r.stages.Rerun(ctx, work, wanted.GetDeploymentId(), wanted.GetStageId(), to.log)
	if err != nil {
		to.refuse(err)
		return to.close()
	}
	ended := &agentv1.StageRerunResult{Status: result.Status, Reason: r.mask(result.Reason),
		Forgotten: int32(result.Forgotten)}
	if !began.IsZero() {
		ended.Duration = durationpb.New(time.Since(began))
	}
	to.send(&agentv1.ReportStageRerunRequest{Kind: &agentv1.ReportStageRerunRequest_Result{Result: ended}})
	return to.close()
}

// report is what a user sees of a re-run. A user who has left sees nothing; that is no error.
type report struct {
	mu     sync.Mutex // a stream takes one message at a time
	stream grpc.ClientStreamingClient[agentv1.ReportStageRerunRequest, agentv1.ReportStageRerunResponse]
	id     uint64
	mask   func(string) string
	err    error
}

func (r *report) send(message *agentv1.ReportStageRerunRequest) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		message.Rerun = r.id
		r.err = r.stream.Send(message)
	}
}

// maxBlocks bounds the blocks of one message: each holds a line, or some KiB of lines.
const maxBlocks = 100

func (r *report) log(blocks []*model.LogBlock) {
	masked := make([]*model.LogBlock, len(blocks))
	for i, block := range blocks {
		masked[i] = &model.LogBlock{Index: block.GetIndex(), Log: r.mask(block.GetLog()), Severity: block.GetSeverity(),
			CreatedAt: block.GetCreatedAt()}
	}
	for len(masked) > 0 {
		part := masked[:min(len(masked), maxBlocks)]
		masked = masked[len(part):]
		r.send(&agentv1.ReportStageRerunRequest{Kind: &agentv1.ReportStageRerunRequest_Log{
			Log: &agentv1.StageRerunLog{Blocks: part}}})
	}
}

func (r *report) refuse(err error) {
	text := r.mask(err.Error())
	var refusal *scheduler.RerunRefusal
	if !errors.As(err, &refusal) {
		text += "; see the log of piped"
	}
	r.send(&agentv1.ReportStageRerunRequest{Kind: &agentv1.ReportStageRerunRequest_Refusal{Refusal: text}})
}

// close says that the report is whole.
func (r *report) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return nil
	}
	return r.stream.CloseSend()
}
