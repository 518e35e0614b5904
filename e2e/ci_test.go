// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/filetest"
	"github.com/pipedeck/pipedeck/system/gittest"
)

func TestCIDeploysHelloWorldAndLeavesNothing(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	r := e.pipedeck("ci", "--cluster", "embedded", "--sample", "hello-world", "--output", "json")
	require.Zero(t, r.Code, r.Stderr)

	events := parse(t, r.Stdout)
	require.True(t, events[len(events)-1].is("result"), "the last line is the result")
	require.EqualValues(t, 0, events[len(events)-1]["exit_code"])
	for _, app := range []string{"hello-world", "hello-world-quick"} {
		require.True(t, has(events, func(e event) bool { return e.is("deployment", "app", app, "status", "SUCCESS") }),
			app)
	}
	require.True(t, has(events, func(e event) bool { return e.is("stage", "name", "K8S_SYNC", "status", "RUNNING") }))
	require.True(t, has(events, func(e event) bool { return e.is("stage", "name", "K8S_SYNC", "status", "SUCCESS") }))
	require.True(t, has(events,
		func(e event) bool { return e.is("log") && strings.Contains(e["text"].(string), "ready") }),
		"the log shows the rollout")
	require.True(t, has(events, func(e event) bool { return e.is("plugin", "name", "kubernetes", "state", "RUNNING") }))
	e.leavesNothing()
}

func TestCIEndsWith1WhenARolloutFails(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{
		"web/app.pipecd.yaml": application("web", ""),
		"web/deployment.yaml": strings.Replace(deployment("web"), "pipedeck.dev/web:v1", "registry.invalid/web:v1", 1),
	})
	r := e.pipedeck("ci", repo, "--cluster", "embedded", "--output", "json")
	require.Equal(t, 1, r.Code, r.Stderr)
	events := parse(t, r.Stdout)
	require.EqualValues(t, 1, events[len(events)-1]["exit_code"])
	require.True(t, has(events, func(e event) bool { return e.is("deployment", "app", "web", "status", "FAILURE") }))
	require.True(t, has(events, func(e event) bool {
		return e.is("log", "severity", "ERROR") && strings.Contains(e["text"].(string), "registry.invalid/web:v1")
	}), "the log names the image that cannot be pulled")
	require.Contains(t, r.Stderr, "registry.invalid/web:v1", "and so does the last word")
	require.Contains(t, r.Stderr, "next step:")
	e.leavesNothing()
}

func TestCIEndsWith2AndThePlaceOfASyntaxError(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{
		"web/app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n" +
			"  timeout: soon\n",
		"other/app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: [\n",
	})
	r := e.pipedeck("ci", repo, "--output", "json")
	require.Equal(t, 2, r.Code, r.Stderr)
	require.Regexp(t, `web/app\.pipecd\.yaml:5:\d+`, r.Stderr)
	require.Regexp(t, `other/app\.pipecd\.yaml:\d+:\d+`, r.Stderr, "all mistakes are reported at once")
	events := parse(t, r.Stdout)
	require.EqualValues(t, 2, events[len(events)-1]["exit_code"])
	e.leavesNothing()
}

func TestCIAcceptsAnyFileNameAndNamesWhatItSkips(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	files := map[string]string{
		"web/app.pipecd.yaml":       application("web", pipeline("WAIT", "duration: 1s")),
		"new\nline/app.pipecd.yaml": application("other", pipeline("WAIT", "duration: 1s")),
		"web/new\nline":             "x", "web/tab\there": "x", `web/quote"`: "x",
	}
	if runtime.GOOS != "darwin" { // whose file systems take text alone
		files["l\xfctin/app.pipecd.yaml"] = application("latin", pipeline("WAIT", "duration: 1s"))
	}
	r := e.pipedeck("ci", repository(t, files), "--cluster", "none", "--timeout", "3m")
	require.Zero(t, r.Code, r.Stderr)
	if runtime.GOOS != "darwin" {
		require.Contains(t, r.Stderr,
			`warning: skipped "l\xfctin/app.pipecd.yaml", "new\nline/app.pipecd.yaml": the path is not one `+
				`line of UTF-8 text`)
	}
	e.leavesNothing()
}

func TestCIEndsWith2AndTheCommandThatMigratesV0(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	r := e.pipedeck("ci", repository(t, map[string]string{
		"web/app.pipecd.yaml": "apiVersion: pipecd.dev/v1beta1\nkind: KubernetesApp\nspec:\n  name: web\n" +
			"  input: {namespace: a}\n",
	}), "--cluster", "none")
	require.Equal(t, 2, r.Code, r.Stderr)
	require.Contains(t, r.Stderr,
		"web/app.pipecd.yaml:2:7: kind: this is PipeCD v0 configuration; run: pipedeck migrate web/app.pipecd.yaml")
	e.leavesNothing()
}

func TestCIEndsWith4WhenTimeIsUp(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{
		"slow/app.pipecd.yaml": application("slow",
			"  planner:\n    alwaysUsePipeline: true\n  pipeline:\n    stages:\n      - name: WAIT\n        with:\n"+
				"          duration: 1h\n"),
	})
	r := e.pipedeck("ci", repo, "--cluster", "none", "--timeout", "5s")
	require.Equal(t, 4, r.Code, r.Stderr)
	require.Contains(t, r.Stderr, "timed out")
	e.leavesNothing()
}

func TestCIDeploysTheCommitOfAShallowCloneWithADetachedHEAD(t *testing.T) {
	t.Parallel()
	origin := repository(t,
		map[string]string{"note/app.pipecd.yaml": application("note",
			"  pipeline:\n    stages:\n      - name: WAIT\n        with:\n          duration: 1s\n")})
	gittest.Run(t, origin, "commit", "-q", "--allow-empty", "-m", "second")
	clone := filepath.Join(t.TempDir(), "clone")
	gittest.Run(t, origin, "clone", "-q", "--depth=1", "file://"+origin, clone)
	gittest.Run(t, clone, "checkout", "-q", "--detach")
	for name, args := range map[string][]string{"around the working directory": {"ci"}, "given": {"ci", "."}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t)
			cmd := e.command(append(args, "--cluster", "none", "--output", "json", "--timeout", "3m")...)
			cmd.Dir = clone
			out, err := cmd.Output()
			require.NoError(t, err, string(out))
			require.True(t,
				has(parse(t, string(out)),
					func(ev event) bool { return ev.is("deployment", "app", "note", "status", "SUCCESS") }))
			e.leavesNothing()
		})
	}
}

func TestAnInterruptedCIEndsWith130AndLeavesNothing(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.start("ci", "--cluster", "embedded", "--sample", "hello-world")
	s.await("the start has begun",
		func(e event) bool { return e.is("component", "name", "kubernetes", "state", "STARTING") })
	s.interrupt()
	_, code := s.wait()
	require.Equal(t, 130, code)
	e.leavesNothing()
}

// A shell sends SIGHUP when its terminal is closed.
func TestACIWhoseTerminalIsClosedLeavesNothing(t *testing.T) {
	t.Parallel()
	// A program that is started with the signal ignored, as by nohup, goes on ignoring it. What a parent receives, its
	// children do not ignore.
	received := make(chan os.Signal, 1)
	signal.Notify(received, syscall.SIGHUP)
	defer signal.Stop(received)
	e := newEnvironment(t)
	repo := repository(t,
		map[string]string{"slow/app.pipecd.yaml": application("slow", pipeline("WAIT", "duration: 10m"))})
	s := e.start("ci", repo, "--cluster", "none")
	s.await("the stage runs", func(e event) bool { return e.is("stage", "name", "WAIT", "status", "RUNNING") })
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGHUP))
	_, code := s.wait()
	require.Equal(t, 130, code)
	e.leavesNothing()
}

func TestACIWhoseOutputNoOneReadsLeavesNothing(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t,
		map[string]string{"web/app.pipecd.yaml": application("web", pipeline("WAIT", "duration: 1s"))})
	cmd := e.command("ci", repo, "--cluster", "none", "--output", "plain")
	stdout, err := cmd.StdoutPipe()
	require.NoError(t, err)
	stderr := &bytes.Buffer{}
	cmd.Stderr = stderr
	require.NoError(t, cmd.Start())
	_, err = bufio.NewReader(stdout).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, stdout.Close())
	require.Equal(t, 141, exitCode(t, cmd.Wait()), "as of a program that the signal has ended")
	require.NotContains(t, stderr.String(), "pipedeck:", "but warnings about this machine may be there")
	e.leavesNothing()
}

func TestACIWhoseOutputCannotBeWrittenSaysSoAndLeavesNothing(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t,
		map[string]string{"web/app.pipecd.yaml": application("web", pipeline("WAIT", "duration: 1s"))})
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip("this system has no device that is always full")
	}
	defer full.Close()
	cmd := e.command("ci", repo, "--cluster", "none", "--output", "plain")
	stderr := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = full, stderr
	require.NoError(t, cmd.Start())
	require.Equal(t, 6, exitCode(t, cmd.Wait()))
	require.Contains(t, stderr.String(), "pipedeck: cannot write the output: no space left on device\nnext step: "+
		"free space where standard output goes, or send it elsewhere, and run it again\n")
	e.leavesNothing()
}

// leavesNothing demands that no process and no file of the environment is left.
func (e *environment) leavesNothing() {
	e.t.Helper()
	waitUntil(e.t, "all processes end", func() bool { return len(e.processes()) == 0 })
	require.NoDirExists(e.t, e.Dir())
}

// processes are the command lines that name the environment's directory.
func (e *environment) processes() []string {
	e.t.Helper()
	out, err := exec.Command("ps", "-axww", "-o", "pid=,command=").Output()
	require.NoError(e.t, err)
	var found []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, e.StateDir) {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}

func parse(t *testing.T, lines string) []event {
	t.Helper()
	var events []event
	for line := range strings.Lines(lines) {
		var e event
		require.NoError(t, json.Unmarshal([]byte(line), &e), line)
		at, _ := e["time"].(string)
		_, err := time.Parse(time.RFC3339Nano, at)
		require.NoError(t, err, line)
		require.NotEmpty(t, e["type"], line)
		events = append(events, e)
	}
	require.NotEmpty(t, events)
	return events
}

func has(events []event, match func(event) bool) bool {
	for _, e := range events {
		if match(e) {
			return true
		}
	}
	return false
}

// repository makes a Git repository with one commit.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filetest.Write(t, filepath.Join(t.TempDir(), "repository"), files)
	gittest.Run(t, dir, "init", "-q", "-b", "main")
	gittest.Commit(t, dir, "first")
	return dir
}

func application(name, more string) string {
	return "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: " + name + "\n" + more +
		"  plugins:\n    kubernetes: {}\n"
}

func deployment(name string) string {
	return strings.ReplaceAll(`apiVersion: apps/v1
kind: Deployment
metadata:
  name: NAME
spec:
  replicas: 2
  selector:
    matchLabels: {app: NAME}
  template:
    metadata:
      labels: {app: NAME}
    spec:
      containers:
        - name: main
          image: pipedeck.dev/NAME:v1
`, "NAME", name)
}
