// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const logApp = `apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: lines
  planner:
    alwaysUsePipeline: true
    autoRollback: false
  pipeline:
    stages:
      - name: BENCH_STAGE_00
        with: {lines: %d, entries: %v}
`

// onePlugin is an environment with the bench's plugin, built from its source.
type onePlugin struct {
	session *session
	agent   *agent
	bin     string
	state   string
	source  string
	repo    string
	pid     int // of the plugin
}

func benchOnePlugin(ctx context.Context, bin, dir, source string, size pluginScale) error {
	o := &onePlugin{bin: bin, state: filepath.Join(dir, "state"), source: source,
		repo: filepath.Join(dir, "repository")}
	if err := o.makeRepository(); err != nil {
		return err
	}
	var err error
	o.session, err = start(ctx, bin, o.state, o.repo, "--cluster", "none", "--keep=false", "--plugin", "bench="+source)
	if err != nil {
		return err
	}
	err = func() error {
		if o.agent, err = awaitAgent(o.session, o.state); err != nil {
			return err
		}
		deployed := false
		if _, err := o.session.await("the plugin runs, and has executed a stage", func(e event) bool {
			o.serves(e)
			deployed = deployed || deployment("lines", "SUCCESS")(e)
			return deployed && o.pid > 0
		}); err != nil {
			return err
		}
		if err := o.saves(ctx, size.saves); err != nil {
			return err
		}
		return o.logs(ctx, size.logs)
	}()
	return errors.Join(err, o.session.stop())
}

func (o *onePlugin) makeRepository() error {
	if err := os.MkdirAll(filepath.Join(o.repo, "lines"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.repo, "lines", "app.pipecd.yaml"), fmt.Appendf(nil, logApp, 1, false),
		0o644); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-qm", "start"}} {
		if err := git(o.repo, args...); err != nil {
			return err
		}
	}
	return nil
}

// serves reports whether an event is about another process of the plugin, which runs.
func (o *onePlugin) serves(e event) bool {
	pid, _ := e.Fields["pid"].(float64)
	if e.Text("type") != "plugin" || e.Text("name") != "bench" || e.Text("state") != "RUNNING" || pid == 0 ||
		int(pid) == o.pid {
		return false
	}
	o.pid = int(pid)
	return true
}

// logs measures long logs, from the start of their stage to its end, which the plugin reports after the last line
// was taken. What has arrived is read as a user reads it.
func (o *onePlugin) logs(ctx context.Context, n int) error {
	if n == 0 {
		return nil
	}
	for _, entries := range []bool{false, true} {
		kind := "lines of output"
		if entries {
			kind = "single entries"
		}
		var took []float64
		for range n {
			seconds, err := o.log(ctx, 100_000, entries)
			if err != nil {
				return err
			}
			took = append(took, seconds)
		}
		numbers("100,000 log lines, "+kind, "s", took, linesLimit)
		before, _ := cpuOf(o.session.cmd.Process.Pid)
		seconds, err := o.log(ctx, 1_000_000, entries)
		if err != nil {
			return err
		}
		number("1,000,000 log lines, "+kind+": complete, in order", "s", seconds, bulkLimit)
		if after, err := cpuOf(o.session.cmd.Process.Pid); err == nil {
			number("the same: host, agent, plugin and reader", "CPU s", (after - before).Seconds())
		}
		for _, p := range []struct {
			name string
			pid  int
		}{{"plugin", o.pid}, {"agent", o.agent.pid}, {"host with the control plane", o.session.cmd.Process.Pid}} {
			peak, err := peakOf(p.pid)
			if errors.Is(err, errors.ErrUnsupported) {
				continue
			}
			if err != nil {
				return err
			}
			number("most memory by then: "+p.name, "MiB", peak/(1<<20))
		}
	}
	return nil
}

func (o *onePlugin) log(ctx context.Context, lines int, entries bool) (seconds float64, err error) {
	config := fmt.Sprintf(logApp, lines, entries)
	if _, _, err := commit(o.repo, "lines/app.pipecd.yaml",
		config+fmt.Sprintf("# %d\n", time.Now().UnixNano())); err != nil {
		return 0, err
	}
	running, err := o.await("the stage runs", stage("RUNNING"))
	if err != nil {
		return 0, err
	}
	ended, err := o.await("the stage ends", stage("SUCCESS"))
	if err != nil {
		return 0, err
	}
	if _, err := o.await("the deployment ends", deployment("lines", "SUCCESS")); err != nil {
		return 0, err
	}
	return ended.Time("time").Sub(running.Time("time")).Seconds(), o.verify(ctx, lines)
}

// await also follows the plugin to other processes.
func (o *onePlugin) await(what string, match func(event) bool) (event, error) {
	return o.session.await(what, func(e event) bool {
		if before := o.pid; o.serves(e) {
			fmt.Printf("(the plugin runs as process %d, no longer as %d: %s)\n", o.pid, before, e.Text("detail"))
		}
		return match(e)
	})
}

func stage(status string) func(event) bool {
	return func(e event) bool { return e.Text("type") == "stage" && e.Text("status") == status }
}

// verify fails when a line is missing, doubled or not in its place.
func (o *onePlugin) verify(ctx context.Context, lines int) error {
	command := environment(o.bin, o.state).Command(ctx, "logs", "lines")
	out, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	next, read := 0, bufio.NewScanner(out)
	var wrong error
	for read.Scan() {
		_, rest, found := strings.Cut(read.Text(), "line ")
		if !found || wrong != nil {
			continue // the heading
		}
		if want := fmt.Sprintf("%07d ", next); !strings.HasPrefix(rest, want) {
			wrong = fmt.Errorf("line %s of the log is missing or not in its place, which has %q", want, read.Text())
		}
		next++
	}
	err = errors.Join(wrong, read.Err(), command.Wait())
	if err == nil && next != lines {
		err = fmt.Errorf("%d of %d lines have arrived", next, lines)
	}
	return err
}
