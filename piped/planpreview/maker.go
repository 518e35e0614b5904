// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planpreview

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/git"
	"github.com/pipedeck/pipedeck/piped/planner"
	"github.com/pipedeck/pipedeck/system/plainerror"
)

// Options are what a Maker needs.
type Options struct {
	ProjectID, PipedID string
	// Repositories are run by someone else.
	Repositories []*git.Repository
	ControlPlane pipedservice.PipedServiceClient
	Planner      *planner.Planner
	// AppSelector holds the labels that an application must have to be taken over when it is not registered.
	AppSelector map[string]string
	// Targets are the deploy targets of each plugin, for applications that are not registered yet.
	Targets map[string][]string
	// Mistakes returns what is wrong in those parts of an application configuration that plugins own. It may be nil.
	Mistakes func(configuration []byte, filename string) config.Errors
	// Mask hides secrets in a text.
	Mask func(string) string
	// Limits are those of the piped configuration.
	Limits config.PlanPreview
	// Received and Handled count commands; either may be nil.
	Received func()
	Handled  func(status model.CommandStatus, took time.Duration)
	// Now is the system's clock when nil.
	Now    func() time.Time
	Logger *slog.Logger
}

// Maker makes plan previews.
type Maker struct {
	options Options
	queue   chan *job

	mu   sync.Mutex
	jobs map[string]*job // what the control plane lists, by command
}

// job is one command.
type job struct {
	command *model.Command
	ctx     context.Context
	cancel  context.CancelCauseFunc
}

var (
	errWithdrawn = errors.New("the control plane does not wait for this plan preview any more")
	errTimeout   = errors.New("the plan preview took too long")
)

// New creates a Maker; nothing is done before Run.
func New(options Options) *Maker {
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Mistakes == nil {
		options.Mistakes = func([]byte, string) config.Errors { return nil }
	}
	if options.Mask == nil {
		options.Mask = func(text string) string { return text }
	}
	options.Limits.WorkerNum = max(options.Limits.WorkerNum, 1)
	if options.Limits.CommandHandleTimeout <= 0 {
		options.Limits.CommandHandleTimeout = config.Duration(defaultTimeout)
	}
	return &Maker{
		options: options, queue: make(chan *job, max(options.Limits.CommandQueueBufferSize, 1)),
		jobs: map[string]*job{},
	}
}

// defaultTimeout bounds a command when neither it nor the configuration does (PipeCD v1: the same).
const defaultTimeout = 5 * time.Minute

// HandleCommands takes all commands that wait for an answer at this moment. The work on others ends.
func (m *Maker) HandleCommands(ctx context.Context, commands []*model.Command) {
	m.mu.Lock()
	listed := map[string]bool{}
	var refused []*model.Command
	for _, command := range commands {
		if command.GetType() != model.Command_BUILD_PLAN_PREVIEW {
			continue
		}
		id := command.GetId()
		listed[id] = true
		if m.jobs[id] != nil {
			continue
		}
		if m.options.Received != nil {
			m.options.Received()
		}
		// The work outlives this call; Run ends it.
		j := &job{command: command}
		j.ctx, j.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
		m.jobs[id] = j
		select {
		case m.queue <- j:
		default:
			j.cancel(nil)
			refused = append(refused, command)
		}
	}
	for id, j := range m.jobs {
		if !listed[id] {
			j.cancel(errWithdrawn)
			delete(m.jobs, id)
		}
	}
	m.mu.Unlock()
	for _, command := range refused {
		m.answer(
			ctx, command,
			m.failure(
				command,
				fmt.Errorf(
					"%d plan previews wait already (planPreview.commandQueueBufferSize): ask again later", cap(m.queue),
				),
			),
			0,
		)
	}
}

// Run works until ctx ends. What is not answered then is for the next piped. It always returns nil.
func (m *Maker) Run(ctx context.Context) error {
	var workers sync.WaitGroup
	for range m.options.Limits.WorkerNum {
		workers.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case j := <-m.queue:
					m.handle(ctx, j)
				}
			}
		})
	}
	workers.Wait()
	return nil
}

// handle makes one plan preview and reports it.
func (m *Maker) handle(ctx context.Context, j *job) {
	begun := m.options.Now()
	timeout := m.timeout(j.command)
	work, stop := context.WithTimeoutCause(j.ctx, timeout, errTimeout)
	defer stop()
	unlink := context.AfterFunc(ctx, func() { j.cancel(context.Cause(ctx)) })
	defer unlink()
	defer j.cancel(nil)

	var result *answer
	err := m.expired(j.command, begun, timeout)
	if err == nil {
		result, err = m.preview(work, j.command)
	}
	// A plugin knows the deadline, too, and may get it before this process does.
	if deadline, _ := work.Deadline(); !time.Now().Before(deadline) {
		<-work.Done()
	}
	switch cause := context.Cause(work); {
	case ctx.Err() != nil:
		return
	case errors.Is(cause, errWithdrawn):
		m.options.Logger.Info("a plan preview was given up", "command", j.command.GetId(), "reason", cause)
		m.count(model.CommandStatus_COMMAND_TIMEOUT, m.options.Now().Sub(begun))
		return
	case errors.Is(cause, errTimeout):
		err = fmt.Errorf(
			"%w: it was given %s; ask for more time, or set planPreview.commandHandleTimeout in the piped "+
				"configuration",
			errTimeout, timeout,
		)
	}
	if err != nil {
		result = m.failure(j.command, err)
	}
	m.answer(ctx, j.command, result, m.options.Now().Sub(begun))
}

// timeout is the command's own, or that of the configuration.
func (m *Maker) timeout(command *model.Command) time.Duration {
	if seconds := command.GetBuildPlanPreview().GetTimeout(); seconds > 0 {
		return min(time.Duration(seconds)*time.Second, maxTimeout)
	}
	return m.options.Limits.CommandHandleTimeout.Std()
}

// expired reports a command that waited so long that no one can be waiting for its answer any more.
func (m *Maker) expired(command *model.Command, now time.Time, timeout time.Duration) error {
	age := now.Sub(time.Unix(command.GetCreatedAt(), 0))
	if command.GetCreatedAt() <= 0 || age <= timeout+clockSkew {
		return nil
	}
	return fmt.Errorf(
		"the plan preview was asked for %s ago and had to be made within %s: ask again", age.Round(time.Second),
		timeout,
	)
}

// clockSkew is how much the clocks of piped and the control plane may differ.
const clockSkew = time.Minute

// maxTimeout bounds what a command may ask for.
const maxTimeout = time.Hour

func (m *Maker) failure(command *model.Command, err error) *answer {
	return &answer{PlanPreviewCommandResult: &model.PlanPreviewCommandResult{
		CommandId: command.GetId(), PipedId: m.options.PipedID, Error: m.text(err),
	}}
}

// text is what users read of an error.
func (m *Maker) text(err error) string { return m.options.Mask(plainerror.Text(err)) }

// answer reports a result. When that fails, the command is done again once it is listed again.
func (m *Maker) answer(
	ctx context.Context, command *model.Command, result *answer, took time.Duration,
) {
	status := model.CommandStatus_COMMAND_SUCCEEDED
	if result.GetError() != "" {
		status = model.CommandStatus_COMMAND_FAILED
	}
	output, err := encode(result)
	if err == nil {
		_, err = m.options.ControlPlane.ReportCommandHandled(ctx, &pipedservice.ReportCommandHandledRequest{
			CommandId: command.GetId(), Status: status, HandledAt: m.options.Now().Unix(), Output: output,
		})
	}
	if err != nil {
		if ctx.Err() == nil {
			m.options.Logger.Error("report of a plan preview failed", "command", command.GetId(), "error", err)
		}
		m.mu.Lock()
		delete(m.jobs, command.GetId())
		m.mu.Unlock()
		return
	}
	m.count(status, took)
	m.options.Logger.Info(
		"plan preview made", "command", command.GetId(), "head", command.GetBuildPlanPreview().GetHeadCommit(),
		"applications", len(result.GetResults()), "error", result.GetError(), "took", took,
	)
}

func (m *Maker) count(status model.CommandStatus, took time.Duration) {
	if m.options.Handled != nil {
		m.options.Handled(status, took)
	}
}
