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
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/api/plugin/common"
)

// sideBySide is how many cases run at once: most of them wait.
const sideBySide = 12

// suite is one run of the cases.
type suite struct {
	ctx     context.Context
	options Options
	bounds  Bounds
	output  io.Writer
	// scratch is where programs run: what they write below their working directory goes with the cases.
	scratch string
	source  *common.DeploymentSource

	mu     sync.Mutex
	common *session
	// before are shared sessions whose process has ended by itself.
	before []*session
	// starting is why the shared session does not start.
	starting error

	// deploying is held while a stage of a plugin with deploy targets runs: its targets are shared.
	deploying sync.Mutex
	ids       counter
	ports     reservations
	// baseline is the stage that ran to its end by itself.
	baseline onceFor[*execution]
	canaries onceFor[*leaked]
	live     onceFor[*liveState]
	pipeline onceFor[*planned]
	story    onceFor[*story]
}

// Run runs the cases of options that the plugin's state allows: of a plugin that does not start, the start alone. The
// results have the order of Cases. Programs run in empty directories, which are removed. The error is for what keeps
// the cases from being run.
func Run(ctx context.Context, options Options) (results []Result, err error) {
	selected, err := Select(Cases(), options.Only)
	if err != nil {
		return nil, err
	}
	s := &suite{ctx: ctx, options: options, bounds: options.Bounds.complete()}
	if options.Output != nil {
		s.output = &sharedWriter{to: options.Output}
	}
	if s.scratch, err = os.MkdirTemp("", "pipedeck-plugin-test-"); err != nil {
		return nil, fmt.Errorf("make a directory to run the plugin in: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.scratch)) }()
	if err := s.makeSource(); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.begin(); err != nil {
		return nil, err
	}
	results = s.runAll(selected)
	return results, errors.Join(err, ctx.Err())
}

// begin starts the shared session and checks what was asked for against what the plugin is.
func (s *suite) begin() error {
	x, err := s.sharedSession(s.ctx)
	if errors.Is(err, errNotStarted) {
		return nil // the case for it says so
	}
	if err != nil {
		return err
	}
	if name := s.options.Stage; name != "" && len(x.stages) > 0 && !slices.Contains(x.stages, name) {
		return &UnknownStageError{name, x.stages}
	}
	if s.options.Accept != nil && len(x.stages) > 0 {
		return s.options.Accept(s.stage(x))
	}
	return nil
}

// runAll runs the cases side by side; those that look at what others have left come last.
func (s *suite) runAll(selected []Case) []Result {
	results := make([]Result, len(selected))
	for _, last := range []bool{false, true} {
		var running sync.WaitGroup
		slots := make(chan struct{}, sideBySide)
		for i, c := range selected {
			if c.last != last {
				continue
			}
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				results[i] = s.runOne(c)
			})
		}
		running.Wait()
	}
	if !slices.ContainsFunc(selected, func(c Case) bool { return c.ID == startID }) && s.startError() != nil {
		for _, c := range Cases() {
			if c.ID == startID {
				results = slices.Insert(results, 0, s.runOne(c))
			}
		}
	}
	return results
}

// runOne runs one case. A case that fails in a session that others use, and has ended, is run again alone: the end may
// be the doing of another one.
func (s *suite) runOne(c Case) Result {
	if s.options.Begun != nil {
		s.options.Begun(c)
	}
	began := time.Now()
	result := Result{Case: c}
	if err := s.startError(); err != nil && c.ID != startID {
		result.State, result.Detail = NotApplicable, notRun(c, err)
	} else {
		p := &probe{ctx: s.ctx, suite: s}
		err := p.run(c)
		var v *verdict
		if err != nil && !errors.As(err, &v) && p.used != nil && !p.used.process.running() {
			p = &probe{ctx: s.ctx, suite: s, alone: true}
			err = p.run(c)
		}
		result.State, result.Detail = outcome(err, p.seen)
		var missing *missingError
		if errors.As(err, &missing) {
			result.Next = missing.next
		}
		if c.ID != startID && errors.Is(err, errNotStarted) && s.startError() != nil {
			result.State, result.Detail = NotApplicable, notRun(c, s.startError())
		}
	}
	result.Took = time.Since(began)
	if s.options.Mask != nil {
		result.Detail = s.options.Mask(result.Detail)
	}
	if s.options.Done != nil && s.ctx.Err() == nil {
		s.options.Done(result)
	}
	return result
}

// notRun is why a case is not run. Those of starts that have to be refused would pass, whatever refuses them.
func notRun(c Case, starting error) string {
	if c.Capability != Start {
		return "the plugin does not start, see " + startID
	}
	return "not run, because the plugin does not start" + strings.TrimPrefix(starting.Error(), errNotStarted.Error())
}

func (p *probe) run(c Case) error {
	err := c.run(p)
	if closed := p.close(); err == nil {
		err = closed
	}
	return err
}

func outcome(err error, seen string) (State, string) {
	var v *verdict
	switch {
	case err == nil:
		return Passed, seen
	case errors.As(err, &v):
		return v.state, v.text
	}
	return Failed, err.Error()
}

// sharedSession returns the session that several cases use. One that has ended is replaced.
func (s *suite) sharedSession(ctx context.Context) (*session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.starting != nil {
		return nil, s.starting
	}
	if s.common != nil && s.common.process.running() {
		return s.common, nil
	}
	if s.common != nil {
		s.before = append(s.before, s.common)
		s.common = nil
	}
	x, err := s.start(ctx, setup{maxMessage: 64 << 20})
	if err != nil {
		s.starting = err
		return nil, err
	}
	s.common = x
	return x, nil
}

func (s *suite) startError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.starting
}

// sessions are all that were shared.
func (s *suite) sessions() []*session {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.before)
	if s.common != nil {
		all = append(all, s.common)
	}
	return all
}

func (s *suite) close() error {
	var errs []error
	for _, x := range s.sessions() {
		errs = append(errs, x.close())
	}
	errs = append(errs, s.ports.close())
	return errors.Join(errs...)
}

// makeSource makes an application that has nothing but its configuration, unless there is one.
func (s *suite) makeSource() error {
	if s.source = s.options.Source; s.source != nil {
		return nil
	}
	dir := filepath.Join(s.scratch, "application")
	const (
		name   = "app.pipecd.yaml"
		config = "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: demo\n"
	)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("make an application: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(config), 0o600); err != nil {
		return fmt.Errorf("make an application: %w", err)
	}
	s.source = &common.DeploymentSource{
		ApplicationDirectory: dir, CommitHash: "0123456789abcdef", ApplicationConfig: []byte(config),
		ApplicationConfigFilename: name, SharedConfigDirectory: filepath.Join(dir, ".pipe"),
	}
	return nil
}
