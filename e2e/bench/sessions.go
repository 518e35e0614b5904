// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// sessionScale says how much is recorded.
type sessionScale struct{ pairs, seconds int }

func (s *sessionScale) register(f *flag.FlagSet) {
	f.IntVar(&s.pairs, "recordings", 3, "runs with and without a recording")
	f.IntVar(&s.seconds, "recorded-seconds", 15, "seconds in which a stage of each writes 1,000 lines a second")
}

func (s *sessionScale) validate() error {
	if s.pairs < 1 || s.seconds < 1 {
		return errors.New("-recordings and -recorded-seconds must be positive")
	}
	return nil
}

// recordedApp writes 100 lines ten times a second.
const recordedApp = `apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: lines
  planner: {alwaysUsePipeline: true, autoRollback: false}
  pipeline:
    stages:
      - name: SCRIPT_RUN
        with:
          run: |
            awk 'BEGIN {
              for (turn = 0; turn < %d; turn++) {
                for (i = 0; i < 100; i++) print "line " turn "." i " of a log that is as long as usual"
                fflush(); system("sleep 0.1")
              }
            }'
`

// benchSessions measures what a recording costs the process of the environment, which also prints every line in both
// cases: pairs of runs that differ in --record alone.
func benchSessions(ctx context.Context, bin, dir string, s sessionScale) error {
	repo := filepath.Join(dir, "repository")
	if err := os.MkdirAll(filepath.Join(repo, "lines"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(repo, "lines", "app.pipecd.yaml"),
		fmt.Appendf(nil, recordedApp, 10*s.seconds), 0o644); err != nil {
		return err
	}
	if err := initRepository(repo); err != nil {
		return err
	}
	var costs, plain, sizes []float64
	for i := range s.pairs {
		without, err := costOfLines(ctx, bin, filepath.Join(dir, fmt.Sprint("plain", i)), repo, s)
		if err != nil {
			return err
		}
		file := filepath.Join(dir, fmt.Sprintf("%d.pipedeck", i))
		with, err := costOfLines(ctx, bin, filepath.Join(dir, fmt.Sprint("recorded", i)), repo, s, "--record", file)
		if err != nil {
			return err
		}
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		plain, costs = append(plain, without), append(costs, with-without)
		sizes = append(sizes, float64(info.Size())/(1<<10))
	}
	numbers("1,000 lines a second without a recording: CPU", "% of a core", plain)
	numbers("what a recording adds", "% of a core", costs, limit{"median", 2})
	numbers(fmt.Sprintf("the file of %d lines", 1000*s.seconds), "KiB", sizes)
	return nil
}

// costOfLines is the CPU that the process of an environment uses while a stage writes its lines, in % of a core.
func costOfLines(ctx context.Context, bin, state, repo string, s sessionScale, flags ...string) (percent float64,
	err error) {
	session, err := start(ctx, bin, state, append([]string{repo, "--cluster", "none", "--keep=false"}, flags...)...)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, session.stop()) }()
	line := func(n int) func(event) bool {
		wanted := fmt.Sprintf("line %d.", n)
		return func(e event) bool { return strings.Contains(e.Text("text"), wanted) }
	}
	if _, err := session.await("the stage writes", line(1)); err != nil {
		return 0, err
	}
	before, err := cpuAlone(session.cmd.Process.Pid)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	if _, err := session.await("the stage has written", line(10*s.seconds-1)); err != nil {
		return 0, err
	}
	after, err := cpuAlone(session.cmd.Process.Pid)
	return 100 * (after - before).Seconds() / time.Since(began).Seconds(), err
}
