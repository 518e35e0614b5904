// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	blamedDoublings = 4 // of the pause after an end that is counted against the input of a call
	maxRestartPause = 10 * time.Second
	startGrace      = 3 * time.Second // for a process that never answered
	fetchDoublings  = 8               // of the pause before a plugin that could not be fetched is fetched again
)

// supervisor keeps a plugin running: it starts processes, replaces them when the binary changes, and starts them again
// after a pause when they end.
type supervisor struct {
	plugin string
	// port is the configured one; 0 for any.
	port      int
	options   *Options
	logger    *slog.Logger
	output    *output
	condition *condition
	binaries  *binaries
	launcher  *launcher
	remains   *remains
	suspicion *suspicion
	builds    *builds
	crashes   crashes
	attacher  *attacher
	ends      exitFile
	restart   chan struct{}
	// renewed gets a value when the binary at the plugin's url may have changed.
	renewed chan struct{}
	// watched is set while a change of the binary is noticed.
	watched atomic.Bool
	// retired counts the replaced processes that finish their calls.
	retired sync.WaitGroup
}

// run starts the plugin and starts it again after each end, until ctx ends.
func (s *supervisor) run(ctx context.Context, lifeline *os.File) {
	defer s.output.close()
	defer s.retired.Wait()
	for {
		err := s.live(ctx, lifeline)
		if ctx.Err() != nil {
			s.condition.set(agentv1.Plugin_STATE_STOPPED, "piped is stopping")
			return
		}
		var exit *ExitError
		if errors.As(err, &exit) && exit.Detached != "" && !exit.Requested {
			s.logger.Warn("an attached process has ended, or was left", "error", err)
			s.condition.setDetached(exit.detachedNote(time.Now()))
		}
		if errors.As(err, &exit) && exit.Abandoned {
			continue // it is no crash, and the next process is shown with the reason
		}
		s.condition.setAbandoned("")
		if errors.Is(err, errRestart) || errors.Is(err, errRenewed) {
			s.crashes.forget()
			s.suspicion.pardon()
			continue
		}
		select {
		case <-s.afterCrash(err):
		case <-s.restart:
			s.crashes.forget()
			s.suspicion.pardon()
		case <-s.renewed:
			s.crashes.forget()
		case <-s.attacher.came:
			s.crashes.forget()
			signal(s.attacher.came) // it is taken with the next start
		case <-ctx.Done():
		}
	}
}

var (
	// errRestart ends a process because a user asked for a new one.
	errRestart = errors.New("restart requested")
	// errRenewed ends a process in its start because its binary has changed.
	errRenewed = errors.New("the binary has changed")
)

// permanentError is an error that another start does not fix.
type permanentError struct{ error }

func (e permanentError) Unwrap() error { return e.error }

// live starts a process and goes on with those that replace it. It returns why the last one ended.
func (s *supervisor) live(ctx context.Context, lifeline *os.File) error {
	if ctx.Err() != nil {
		return errStopped
	}
	s.condition.set(agentv1.Plugin_STATE_STARTING, "")
	proc, err := s.begin(ctx, lifeline)
	for err == nil {
		var next *process
		next, err = s.keep(ctx, lifeline, proc)
		switch {
		case next == nil:
			s.ended(proc, err)
		default:
			s.retire(ctx, proc)
			proc = next
		}
	}
	return err
}

// begin takes a process that its author has started, if there is one, and starts one otherwise.
func (s *supervisor) begin(ctx context.Context, lifeline *os.File) (*process, error) {
	s.attacher.firstTry(ctx)
	if next := s.attacher.take(); next != nil {
		s.serve(next.proc, next.able)
		return next.proc, nil
	}
	return s.first(ctx, lifeline)
}

// first starts a process that replaces none, and waits until it answers.
func (s *supervisor) first(ctx context.Context, lifeline *os.File) (*process, error) {
	if err := s.remains.end(); err != nil {
		return nil, err
	}
	drain(s.renewed) // what is there now is taken
	program, _ := identify(s.builds.program)
	b, err := s.binaries.fetch(ctx)
	if err != nil {
		return nil, permanentError{err}
	}
	program = program.linked(s.builds.program, b.path)
	proc, err := s.launcher.launch(b, s.port, lifeline)
	if err != nil {
		return nil, err
	}
	s.condition.began(proc)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ready := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for ctx.Err() == nil {
			select {
			case <-s.restart:
				cancel(errRestart)
			case <-s.renewed:
				if now, err := s.binaries.fetch(ctx); err == nil && now.path != b.path {
					cancel(errRenewed)
				}
			case <-ready:
				return
			}
		}
	}()
	able, err := s.launcher.awaitReady(ctx, proc)
	close(ready)
	<-watched
	// A cancelled start is piped's own end.
	if s.options.Observer.Started != nil && !errors.Is(context.Cause(ctx), context.Canceled) {
		s.options.Observer.Started(s.plugin, proc.started, err)
	}
	if err != nil {
		proc.stop(min(s.options.GracePeriod, startGrace)) // it has no work to finish
		s.ended(proc, err)
		return nil, err
	}
	s.serve(proc, able)
	s.builds.examine(program, nil)
	return proc, nil
}

// keep is the time in which a process answers all calls. It returns the one that replaces it, or why there
// is none; then the process is gone.
func (s *supervisor) keep(ctx context.Context, lifeline *os.File, proc *process) (*process, error) {
	preparing, abandon := context.WithCancelCause(ctx)
	var coming chan successor
	defer func() {
		abandon(errAbandoned)
		if coming != nil {
			if next := <-coming; next.proc != nil {
				s.discard(next.proc, errAbandoned)
			}
		}
	}()
	for {
		renewed := s.renewed
		if coming != nil || proc.attachment != nil {
			renewed = nil // one after the other, and its author means the attached one
		}
		select {
		case <-proc.ending.exited:
			return nil, proc.ending.exit
		case <-s.restart:
			proc.stop(s.options.GracePeriod)
			return nil, errRestart
		case <-s.attacher.came:
			if next := s.attacher.take(); next != nil {
				s.serve(next.proc, next.able)
				return next.proc, nil
			}
		case <-ctx.Done():
			proc.stop(s.options.GracePeriod)
			return nil, errStopped
		case <-renewed:
			coming = make(chan successor, 1)
			go func(result chan<- successor) { result <- s.succeed(preparing, lifeline, proc) }(coming)
		case next := <-coming:
			coming = nil
			switch {
			case next.err != nil:
				s.logger.Warn("a changed plugin does not start; the one before it goes on", "error", next.err)
				reason := fmt.Sprintf("%s: %s", changedDoesNotStart, next.err)
				why := problem{
					reason: reason, nextStep: "fix the program: it is started as soon as it changes", refused: true,
				}
				s.condition.fail(agentv1.Plugin_STATE_RUNNING, reason, why)
			case next.proc != nil:
				s.serve(next.proc, next.abilities)
				s.builds.examine(next.program, nil)
				return next.proc, nil
			default:
				s.condition.keeps(proc)
			}
			s.builds.examine(next.program, next.err)
		}
	}
}

// afterCrash notes the end and returns when to start again: nil means only when asked.
func (s *supervisor) afterCrash(err error) <-chan time.Time {
	var exit *ExitError
	blamed := errors.As(err, &exit) && exit.blamed
	count, quarantined := s.crashes.count(blamed)

	var permanent permanentError
	switch {
	case fetch.Passing(err):
		pause := s.restartPause(min(count, fetchDoublings))
		s.condition.fail(agentv1.Plugin_STATE_FAILED, fmt.Sprintf("%s; piped tries it again", err), problem{
			reason: err.Error(), nextStep: "check the plugin's url and the network; piped tries it again",
		})
		s.logger.Warn(
			"plugin cannot be fetched and is tried again", "error", err, "pause", pause.Round(time.Millisecond),
		)
		return s.options.Clock.After(pause)
	case errors.As(err, &permanent):
		detail := fmt.Sprintf("%s; %s", err, s.wayBack())
		s.condition.fail(agentv1.Plugin_STATE_FAILED, detail, problem{reason: err.Error(), nextStep: s.nextStep()})
	case quarantined:
		reason := fmt.Sprintf("quarantined after %d failures within a minute: %s", count, err)
		why := problem{reason: reason, nextStep: s.nextStep()}
		s.condition.fail(agentv1.Plugin_STATE_FAILED, reason+"; "+s.wayBack(), why)
	default:
		pause := s.restartPause(count)
		if blamed {
			pause = s.restartPause(min(count, blamedDoublings)) // others wait for the plugin
		}
		s.condition.fail(agentv1.Plugin_STATE_RESTARTING, err.Error(), restarting(s.plugin, err))
		s.logger.Warn("plugin ended and is started again", "error", err, "pause", pause.Round(time.Millisecond))
		return s.options.Clock.After(pause)
	}
	s.logger.Error("plugin has failed", "error", err)
	return nil
}

// wayBack says how a plugin that piped does not start any more is started.
func (s *supervisor) wayBack() string {
	command := "pipedeck restart " + s.plugin
	if s.watched.Load() {
		return "fix the program, or run: " + command
	}
	return "fix it, then run: " + command
}

// restartPause doubles with every crash; a random part keeps plugins that fell together from rising
// together.
func (s *supervisor) restartPause(crashes int) time.Duration {
	return clock.Pause(s.options.RestartPause, maxRestartPause, crashes)
}

// serve makes a process the one that new calls go to, and watches it.
func (s *supervisor) serve(proc *process, able abilities) {
	s.suspicion.serves(proc.binary())
	s.condition.serving(proc, able)
	if proc.attachment != nil {
		s.condition.setAbandoned("")
		s.logger.Info("plugin is attached", "process", proc.attachment.name(), "stages", able.stages)
		return // its author sees to its health and to what it uses
	}
	proc.guard(s.options.HealthInterval, s.options.HangTimeout,
		func(unwell bool) { s.condition.unwell(proc, unwell) }, s.condition.changes.notify)
	proc.bound(s.launcher.limits)
	s.logger.Info("plugin is ready", "pid", proc.command.Process.Pid, "port", proc.port, "stages", able.stages,
		"took", s.options.Clock.Now().Sub(proc.started).Round(time.Millisecond))
}

// ended forgets a process that is gone, and notes its end.
func (s *supervisor) ended(proc *process, why error) {
	s.condition.ended(proc)
	s.died(proc, why)
	s.remains.note(proc)
	proc.close()
}

// drain takes a value that waits.
func drain(c chan struct{}) {
	select {
	case <-c:
	default:
	}
}
