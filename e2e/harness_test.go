// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/e2e/drive"
	"github.com/pipedeck/pipedeck/system/gittest"
	"github.com/pipedeck/pipedeck/system/logtest"
)

// patience bounds every wait: machines that run tests are slow and shared.
const patience = 2 * time.Minute

// environment is one environment of one story, in its own directories.
type environment struct {
	t *testing.T
	drive.Environment
}

func newEnvironment(t *testing.T) *environment {
	t.Helper()
	require.NotEmpty(t, os.Getenv("PIPEDECK_BIN"), "run the stories with: make e2e")
	e := &environment{t: t, Environment: drive.Environment{
		Bin: os.Getenv("PIPEDECK_BIN"), StateDir: filepath.Join(t.TempDir(), "state"), Name: "story",
	}}
	t.Cleanup(func() {
		if t.Failed() {
			e.showLogs()
		}
		e.pipedeck("down")
	})
	return e
}

// command prepares a pipedeck command on this environment.
func (e *environment) command(args ...string) *exec.Cmd {
	// Which cluster it is must not depend on the machine.
	named := slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--cluster") })
	if (args[0] == "up" || args[0] == "ci") && !named {
		args = append(slices.Clone(args), "--cluster", "embedded")
	}
	return e.Command(context.Background(), args...)
}

// pipedeck runs a command to its end.
func (e *environment) pipedeck(args ...string) drive.Result {
	e.t.Helper()
	result, err := drive.Run(e.command(args...))
	require.NoError(e.t, err)
	requireWords(e.t, "pipedeck "+strings.Join(args, " "), result.Stdout+result.Stderr)
	return result
}

func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	require.NoError(t, err)
	return 0
}

// nouns are the lists in the documents of the table commands.
func nouns(table string) string {
	if table == "apps" {
		return "applications"
	}
	return table
}

// list runs a table command with -o json.
func (e *environment) list(table string) []map[string]any {
	e.t.Helper()
	r := e.pipedeck(table, "-o", "json")
	require.Zero(e.t, r.Code, r.Stderr)
	var document map[string]json.RawMessage
	require.NoError(e.t, json.Unmarshal([]byte(r.Stdout), &document), r.Stdout)
	var objects []map[string]any
	require.NoError(e.t, json.Unmarshal(document[nouns(table)], &objects), r.Stdout)
	return objects
}

// git runs git in the environment's sample repository.
func (e *environment) git(args ...string) string {
	e.t.Helper()
	return gittest.Run(e.t, e.Dir("repository"), args...)
}

// edit replaces text in a file of the sample repository and commits it.
func (e *environment) edit(file, old, new, message string) {
	e.t.Helper()
	replaceIn(e.t, e.Dir("repository", file), old, new)
	e.git("commit", "-aqm", message)
}

// replaceIn replaces text in a file, which holds it.
func replaceIn(t *testing.T, path, old, new string) {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(content), old)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(content), old, new, 1)), 0o644))
}

// replaceAndCommit replaces text in files of a repository and returns the commit.
func replaceAndCommit(t *testing.T, dir, old, new string, files ...string) string {
	t.Helper()
	for _, file := range files {
		replaceIn(t, filepath.Join(dir, file), old, new)
	}
	gittest.Run(t, dir, "commit", "-aqm", "Replace "+old+" by "+new)
	return gittest.Run(t, dir, "rev-parse", "HEAD")
}

// showLogs prints what the environment's processes wrote, to explain a failure.
func (e *environment) showLogs() {
	logs, _ := filepath.Glob(e.Dir("logs", "*.log"))
	plugins, _ := filepath.Glob(e.Dir("logs", "plugins", "*.log"))
	logs = append(logs, plugins...)
	for _, log := range logs {
		content, _ := os.ReadFile(log)
		e.t.Logf("==> %s\n%s", filepath.Base(log), content[max(0, len(content)-4000):])
	}
}

// event is one line of --output json.
type event map[string]any

func (e event) is(kind string, fields ...string) bool {
	return drive.Event{Fields: e}.Is(kind, fields...)
}

func deployed(app, status string, more ...string) func(event) bool {
	return func(e event) bool {
		return e.is("deployment", append([]string{"app", app, "status", status}, more...)...)
	}
}

func waits(app string) func(event) bool {
	return func(e event) bool { return e.is("stage", "app", app, "name", "WAIT_APPROVAL", "status", "RUNNING") }
}

// stream is a pipedeck command that prints events.
type stream struct {
	t      *testing.T
	cmd    *exec.Cmd
	stderr logtest.Buffer

	mu     sync.Mutex
	events []event
	ended  bool
	change *sync.Cond
}

// start runs a command with --output json in the background.
func (e *environment) start(args ...string) *stream {
	e.t.Helper()
	s := &stream{t: e.t, cmd: e.command(append(args, "--output", "json")...)}
	s.change = sync.NewCond(&s.mu)
	s.cmd.Stderr = &s.stderr
	arriving, err := drive.Open(s.cmd)
	require.NoError(e.t, err)
	go s.read(arriving)
	e.t.Cleanup(func() {
		s.interrupt()
		events, _ := s.wait()
		for _, event := range events {
			line, err := json.Marshal(event)
			require.NoError(e.t, err)
			requireWords(e.t, "an event", string(line))
		}
		requireWords(e.t, "standard error of pipedeck "+strings.Join(args, " "), s.stderr.String())
	})
	return s
}

func (s *stream) read(arriving <-chan drive.Event) {
	for e := range arriving {
		s.mu.Lock()
		s.events = append(s.events, event(e.Fields))
		s.change.Broadcast()
		s.mu.Unlock()
	}
	s.mu.Lock()
	s.ended = true
	s.change.Broadcast()
	s.mu.Unlock()
}

// await returns the first event, old or new, that matches.
func (s *stream) await(what string, match func(event) bool) event {
	s.t.Helper()
	return s.awaitFor(s.t, what, match)
}

// awaitFor waits for a test that shares the command with others.
func (s *stream) awaitFor(t *testing.T, what string, match func(event) bool) event {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { s.mu.Lock(); s.change.Broadcast(); s.mu.Unlock() })
	defer stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for seen := 0; ; {
		for ; seen < len(s.events); seen++ {
			if match(s.events[seen]) {
				return s.events[seen]
			}
		}
		if s.ended || ctx.Err() != nil {
			t.Fatalf("no event: %s\nstderr: %s\nlast events: %v", what, s.stderr.String(),
				s.events[max(0, len(s.events)-15):])
		}
		s.change.Wait()
	}
}

// seen reports whether an event has matched until now.
func (s *stream) seen(match func(event) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.events, match)
}

func (s *stream) interrupt() { _ = s.cmd.Process.Signal(os.Interrupt) }

// wait returns the events and the exit code after the command's end.
func (s *stream) wait() ([]event, int) {
	s.mu.Lock()
	for !s.ended {
		s.change.Wait()
	}
	s.mu.Unlock()
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Wait()
	}
	return s.events, s.cmd.ProcessState.ExitCode()
}
