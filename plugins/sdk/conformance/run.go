// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/api/plugin/common"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

const (
	// answerLimit bounds the answer to a question that needs no work.
	answerLimit = 30 * time.Second
	// stopLimit bounds how long a cancelled stage may go on; piped waits as long for a plugin to end.
	stopLimit = 30 * time.Second
)

// State is how a check ended.
type State string

const (
	Passed State = "passed"
	Failed State = "failed"
	// Noted is for what the plugin may do, and its author has to know: a stage that ended in failure.
	Noted State = "noted"
	// NotApplicable is for what the plugin does not have, and need not.
	NotApplicable State = "n/a"
)

// Check is one thing that was looked at.
type Check struct {
	Name   string `json:"name"`
	State  State  `json:"state"`
	Detail string `json:"detail"`
}

// Options say what is checked.
type Options struct {
	// Program is the plugin's; Settings is its entry of the piped configuration.
	Program  string
	Settings sdk.Settings
	// Stage is the stage to execute; empty is the first one that the plugin names.
	Stage string
	// With is the JSON of the stage's "with"; empty is {}. A stage with options has to succeed, one without may fail.
	With string
	// Accept returns why With cannot be for a stage, before the stage is executed; nil accepts all.
	Accept func(stage string) error
	// Source is the application at the deployed commit; nil is one of the stage alone, without files.
	Source *common.DeploymentSource
	// RunLimit is how long the stage may run before it is cancelled.
	RunLimit time.Duration
	// Output is where the program's own output goes.
	Output io.Writer
	// Done, when set, gets each check as it ends.
	Done func(Check)
}

// UnknownStageError says that Options.Stage is none that the plugin names.
type UnknownStageError struct {
	Stage string
	// Stages are those that it names.
	Stages []string
}

func (e *UnknownStageError) Error() string {
	return fmt.Sprintf("the plugin has no stage %s, only %s", e.Stage, strings.Join(e.Stages, ", "))
}

// Run makes all checks that the plugin's state allows, in an order in which each needs what the earlier ones have
// shown: a plugin that does not start has one. The program runs in an empty directory, which is removed. The error is
// for what keeps the checks from being made.
func Run(ctx context.Context, options Options) (checks []Check, err error) {
	r := &run{ctx: ctx, options: options, done: func(check Check) {
		checks = append(checks, check)
		if options.Done != nil {
			options.Done(check)
		}
	}}
	if r.piped, err = standin.Start(standin.Options{Invalid: r.invalid}); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.piped.Close()) }()
	if r.scratch, err = os.MkdirTemp("", "pipedeck-plugin-test-"); err != nil {
		return nil, fmt.Errorf("make a directory to run the plugin in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.scratch)) }()
	if r.source = options.Source; r.source == nil {
		dir := filepath.Join(r.scratch, "application")
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make an application: %w", err)
		}
		if r.source, err = application(dir); err != nil {
			return nil, err
		}
	}
	if r.begin("starts as PipeCD's piped starts it") {
		if err = r.asked(); err == nil {
			r.allOf()
		}
	}
	if r.program != nil {
		r.program.Kill()
		err = errors.Join(err, r.program.Conn.Close())
	}
	return checks, errors.Join(err, ctx.Err())
}

// asked fails when the stage to execute is none of the plugin's, or cannot have the options: it would fail, which a
// stage may.
func (r *run) asked() error {
	if name, named := r.options.Stage, r.program.Stages; name != "" && len(named) > 0 && !slices.Contains(named, name) {
		return &UnknownStageError{name, named}
	}
	if r.options.Accept != nil && len(r.program.Stages) > 0 {
		return r.options.Accept(r.stage())
	}
	return nil
}

// allOf are the checks of a plugin that starts.
func (r *run) allOf() {
	r.stages()
	r.health()
	r.planning()
	r.unknownStage()
	r.brokenRequest()
	r.execute()
	r.reportedLog()
	r.requests()
	r.cancel()
	r.end("ends after SIGTERM", false)
	if r.begin("starts again") {
		r.again()
		r.endRunning()
	}
}

// application makes one that has nothing but its configuration.
func application(dir string) (*common.DeploymentSource, error) {
	const (
		name   = "app.pipecd.yaml"
		config = "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: demo\n"
	)
	if err := os.WriteFile(filepath.Join(dir, name), []byte(config), 0o600); err != nil {
		return nil, fmt.Errorf("make an application: %w", err)
	}
	return &common.DeploymentSource{
		ApplicationDirectory: dir, CommitHash: "0123456789abcdef", ApplicationConfig: []byte(config),
		ApplicationConfigFilename: name, SharedConfigDirectory: filepath.Join(dir, ".pipe"),
	}, nil
}

// run is one series of checks.
type run struct {
	ctx     context.Context
	options Options
	done    func(Check)
	piped   *standin.Piped
	program *standin.Program
	source  *common.DeploymentSource
	// scratch is where the program runs: what it writes below its working directory goes with the checks.
	scratch string

	// executed is set when the stage has ended by itself.
	executed bool
	// refused are requests of the plugin that break the rules.
	refused refusals
}

// check reports how something ended; nil is well.
func (r *run) check(name string, err error, detail string, args ...any) bool {
	switch {
	case r.ctx.Err() != nil:
		return false // interrupted, which says nothing about the plugin
	case err != nil:
		r.done(Check{name, Failed, err.Error()})
	default:
		r.done(Check{name, Passed, fmt.Sprintf(detail, args...)})
	}
	return err == nil
}

func (r *run) noted(name, what string, args ...any) {
	r.done(Check{name, Noted, fmt.Sprintf(what, args...)})
}

func (r *run) notApplicable(name, why string, args ...any) {
	r.done(Check{name, NotApplicable, fmt.Sprintf(why, args...)})
}

// begin starts the program.
func (r *run) begin(name string) bool {
	began := time.Now()
	program, err := standin.StartProgram(r.ctx, r.options.Program, r.scratch, r.piped.Address, r.options.Settings,
		r.options.Output)
	r.program = program
	return r.check(name, err, "serving after %s", time.Since(began).Round(time.Millisecond))
}

// end stops the program. A busy one may let its stage go on, as PipeCD's SDK does, until piped kills it.
func (r *run) end(name string, busy bool) {
	began := time.Now()
	switch err := r.program.Stop(); {
	case busy && errors.Is(err, standin.ErrKilled):
		r.notApplicable(name, "it lets the stage go on; after %s it was killed, as piped does after a time, and "+
			"the stage starts again", standin.StopLimit)
	case err == nil || errors.Is(err, standin.ErrKilled):
		r.check(name, err, "after %s", time.Since(began).Round(time.Millisecond))
	default:
		r.check(name, fmt.Errorf("it ended with %w; piped takes that for a crash", err), "")
	}
	_ = r.program.Conn.Close()
	r.program = nil
}

// alive fails a check when the process has ended.
func (r *run) alive() error {
	select {
	case <-r.program.Exited:
		return errors.New("the process has ended: one request must not end the work for all others")
	default:
		return nil
	}
}
