// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// Config is what Run needs.
type Config struct {
	// Client returns the deck API. It may block until the environment listens; it is called in the
	// background, and again whenever the connection is lost. Returning an error that wraps
	// ErrEnvironmentGone ends the UI; see also ErrEnvironmentStopped. A process that ends for another one to take its
	// place says so in the deck API; the UI then waits for that one.
	Client func(ctx context.Context) (deckv1.DeckServiceClient, error)
	// Name of the environment and version of the program, for the header.
	Name, Version string
	// Flags are what a command for the user needs so that it finds this environment, with a leading space; empty when
	// it needs none.
	Flags string
	// ReadOnly is why nothing can be changed, as a clause; empty when everything can.
	ReadOnly string
	// Notices are what the program has to say to the user.
	Notices Notices
	// Playback moves through the recorded session that Client shows; nil for an environment.
	Playback Playback
	// Guide makes the user the viewer of the story that is played; nil for everyone else.
	Guide *Guide
	// Commander is who approves, skips and cancels, as shown in logs; default $USER.
	Commander string
	// Keys is what the key file says; the zero value is no file.
	Keys keymap.File
	// Files are where the UI writes on this machine.
	Files Files
	// Guest is the user when that is someone who watches from another machine; nil for the user of this machine.
	Guest *Guest
	// Share is how others watch; nil where the UI cannot be shared.
	Share *Share
	// Program is what runs besides the UI.
	Program
	// Manifests can be edited; nil when no repository is on this machine.
	Manifests Manifests
	// Input and Output are the terminal; nil means that of the process.
	Input  io.Reader
	Output io.Writer
	// Environ is "NAME=value"; nil means that of the process. See theme.FromEnvironment.
	Environ []string
}

// Program is what the UI has run about its environment, in the background.
type Program struct {
	// Command runs a command of pipedeck about this environment and returns what it prints to standard output and what
	// it says on standard error; nil where there is no program to run. The error of one that fails is what it says.
	Command func(ctx context.Context, args []string) (out, said string, err error)
	// Start starts the environment again whose process was killed, and returns when clients may connect; its error ends
	// the UI. Nil where no one can.
	Start func(ctx context.Context) error
}

// Files are where the UI writes on this machine.
type Files struct {
	// Copy takes what is copied on terminals without a clipboard; empty means that copying is refused there.
	Copy string
	// Cards keeps which cards the environment has shown; empty means until the UI ends.
	Cards string
	// Saved is the folder where logs are saved; empty means the working directory.
	Saved string
}

// Outcome is why Run ended.
type Outcome int

const (
	// LeaveRunning: the user left and wants the environment to go on.
	LeaveRunning Outcome = iota
	// TearDown: the user left and wants the environment to be stopped and removed. Run has not done so.
	TearDown
	// EnvironmentGone: the environment was stopped on purpose, by someone else.
	EnvironmentGone
	// Interrupted: ctx ended, or the process got SIGINT, SIGTERM or SIGHUP.
	Interrupted
)

func (o Outcome) String() string {
	switch o {
	case LeaveRunning:
		return "leave running"
	case TearDown:
		return "tear down"
	case EnvironmentGone:
		return "environment gone"
	case Interrupted:
		return "interrupted"
	}
	return "unknown"
}

// PanicError is a bug in the UI: what panicked, and where.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("the terminal UI panicked: %v", e.Value) }

// ErrEnvironmentGone says that there is nothing left to connect to.
var ErrEnvironmentGone = errors.New("the environment is gone")

// ErrEnvironmentStopped says that no process runs the environment and that it can be started again: its process was
// killed. The UI says so, offers to start it again, and goes on looking whether someone else has.
var ErrEnvironmentStopped = errors.New("the environment has stopped")

// Run shows the UI until the user leaves, the environment is gone, or ctx ends. The error is not nil
// when the terminal cannot be used or something panicked; the terminal is restored in any case.
func Run(ctx context.Context, cfg Config) (Outcome, error) {
	return run(ctx, cfg, seams{})
}

// seams are where tests reach in.
type seams struct {
	clock clock
	// before sees every message before the model does.
	before func(tea.Msg)
}

// clock is the time: what it is, and a wait.
type clock struct {
	now   func() time.Time
	after func(d time.Duration) <-chan time.Time
}

// framesPerSecond bounds how often the screen is written. Bubble Tea looks that often whether it has changed, which is
// nearly all that a UI at rest costs: the bound keeps it below half a percent of a core.
const framesPerSecond = 20

func run(ctx context.Context, cfg Config, seams seams) (Outcome, error) {
	cfg = cfg.completed()
	look, err := theme.FromEnvironment(cfg.Environ)
	if err != nil {
		return Interrupted, err
	}
	if seams.clock.now == nil {
		seams.clock = clock{now: time.Now, after: time.After}
	}
	real := seams.clock
	if cfg.Playback != nil {
		seams.clock.now = localTimes(cfg.Playback)
	}
	ctx, stop := cfg.interrupted(ctx)
	defer stop()

	work := newWork(ctx)
	m := newModel(cfg, look, work, seams.clock)
	m.before = seams.before
	// Neither the context nor signals are given to Bubble Tea: it would stop without waiting for its own
	// reader of the terminal. The model is asked to quit instead.
	options := []tea.ProgramOption{tea.WithEnvironment(cfg.Environ), tea.WithoutSignalHandler(),
		tea.WithFPS(framesPerSecond)}
	options = append(options, guestOptions(cfg)...)
	if cfg.Input != nil {
		options = append(options, tea.WithInput(cfg.Input))
	}
	if cfg.Output != nil {
		options = append(options, tea.WithOutput(cfg.Output))
	}
	program := tea.NewProgram(m, options...)
	m.host.send = program.Send
	work.crashed = func(err error) { program.Send(crashMsg{err}) }
	work.spawn(func(ctx context.Context) {
		feed{client: cfg.Client, send: program.Send, clock: real}.run(ctx)
	})
	beginNotices(work, cfg, program.Send)
	work.spawn(func(ctx context.Context) {
		<-ctx.Done()
		program.Send(interruptMsg{})
	})

	drawn := drawFirst(m, cfg.Output)
	work.spawn(func(ctx context.Context) { sizeAgain(ctx, cfg.Output, program.Send) })
	_, err = program.Run()
	work.stop()
	if err != nil && drawn {
		leaveFirst(cfg.Output)
	}

	switch {
	case m.leaving.err != nil:
		return Interrupted, m.leaving.err
	case err != nil:
		return Interrupted, fmt.Errorf("run the terminal UI: %w; try --output plain", err)
	}
	return m.leaving.outcome, nil
}

func lookup(environ []string, name, otherwise string) string {
	for i := len(environ) - 1; i >= 0; i-- {
		if value, found := cutName(environ[i], name); found && value != "" {
			return value
		}
	}
	return otherwise
}

func cutName(entry, name string) (string, bool) {
	if len(entry) > len(name) && entry[:len(name)] == name && entry[len(name)] == '=' {
		return entry[len(name)+1:], true
	}
	return "", false
}
