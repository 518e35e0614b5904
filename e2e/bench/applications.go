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

// scale is the size of what is measured with many applications in one repository.
type scale struct {
	applications, together, few int
	rounds, singles             int
	idle                        time.Duration
}

func (s *scale) register(flags *flag.FlagSet) {
	flags.IntVar(&s.applications, "applications", 1000, "applications in one repository")
	flags.IntVar(&s.together, "together", 200, "applications that one commit deploys together")
	flags.IntVar(&s.few, "few", 10, "applications that one commit touches, to see that no other is deployed")
	flags.IntVar(&s.rounds, "rounds", 3, "commits of each size")
	flags.IntVar(&s.singles, "singles", 100, "commits to a repository with one application")
	flags.DurationVar(&s.idle, "idle", time.Minute, "how long the idle agent is looked at")
}

func (s *scale) validate() error {
	if s.few < 1 || s.together < 1 || s.rounds < 1 || s.singles < 1 || s.idle < time.Second ||
		s.applications < s.few || s.applications < s.together {
		return errors.New("-applications, -together, -few, -rounds and -singles must be at least 1, no more than " +
			"-applications deployed at once, and -idle 1s")
	}
	return nil
}

// What the figures should keep; milliseconds, seconds, MiB and hundredths of a core.
var (
	firstStageLimits = []limit{{"median", 150}, {"p99", 400}}
	triggeredLimit   = limit{"max", 1000}
	togetherLimit    = limit{"max", 12}
	togetherCPU      = limit{"max", 20}
	memoryLimit      = limit{"max", 150}
	idleLimit        = limit{"max", 1}
	leakLimit        = limit{"max", 1}
)

const (
	scriptOnly = `apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: %s
  planner:
    alwaysUsePipeline: true
    autoRollback: false
  pipeline:
    stages:
      - name: SCRIPT_RUN
        with:
          run: echo
`
	waitAndScript = `apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: %s
  planner:
    alwaysUsePipeline: true
    autoRollback: false
  pipeline:
    stages:
      - name: WAIT
        with:
          duration: 1s
      - name: SCRIPT_RUN
        with:
          run: echo
`
)

// benchApplications measures the agent with one application, then with many in one repository. There is no
// cluster: the stages wait and run a script.
func benchApplications(ctx context.Context, bin, dir string, size scale) error {
	if err := benchSingle(ctx, bin, filepath.Join(dir, "single"), size.singles); err != nil {
		return fmt.Errorf("one application: %w", err)
	}
	repository := filepath.Join(dir, "repository")
	if err := makeApplications(repository, waitAndScript, size.applications); err != nil {
		return err
	}
	state := filepath.Join(dir, "state")
	s, err := start(ctx, bin, state, repository, "--cluster", "none", "--keep=false")
	if err != nil {
		return err
	}
	err = func() error {
		a, err := awaitAgent(s, state)
		if err != nil {
			return err
		}
		m := &many{session: s, agent: a, bin: bin, state: state, repository: repository, size: size}
		return m.measure(ctx)
	}()
	return errors.Join(err, s.stop())
}

func benchSingle(ctx context.Context, bin, dir string, n int) error {
	repository := filepath.Join(dir, "repository")
	if err := makeApplications(repository, scriptOnly, 1); err != nil {
		return err
	}
	s, err := start(ctx, bin, filepath.Join(dir, "state"), repository, "--cluster", "none", "--keep=false")
	if err != nil {
		return err
	}
	err = func() error {
		if _, err := s.await("the first deployment", deployment(application(0), "SUCCESS")); err != nil {
			return err
		}
		var first, withGit []time.Duration
		for i := range n {
			began, committed, err := commit(repository, application(0)+"/round", fmt.Sprint(i+1))
			if err != nil {
				return err
			}
			running, err := s.await("the first stage runs",
				func(e event) bool { return e.Text("type") == "stage" && e.Text("status") == "RUNNING" })
			if err != nil {
				return err
			}
			first, withGit = append(first, running.At.Sub(committed)), append(withGit, running.At.Sub(began))
			if _, err := s.await("the deployment ends", deployment(application(0), "SUCCESS")); err != nil {
				return err
			}
		}
		figures("1 application: commit -> first stage RUNNING", first, firstStageLimits...)
		figures("the same from the start of git commit", withGit, firstStageLimits...)
		return nil
	}()
	return errors.Join(err, s.stop())
}

func application(i int) string { return fmt.Sprintf("app-%04d", i) }

func makeApplications(dir, configuration string, n int) error {
	for i := range n {
		own := filepath.Join(dir, application(i))
		if err := os.MkdirAll(own, 0o755); err != nil {
			return err
		}
		files := map[string]string{"app.pipecd.yaml": fmt.Sprintf(configuration, application(i)), "round": "0"}
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(own, name), []byte(content), 0o644); err != nil {
				return err
			}
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-qm", "start"}} {
		if err := git(dir, args...); err != nil {
			return err
		}
	}
	return nil
}

// touch changes a file of each application in one commit, and returns the moment at which git had ended.
func touch(repository string, applications []int, content string) (time.Time, error) {
	for _, i := range applications {
		if err := os.WriteFile(filepath.Join(repository, application(i), "round"), []byte(content), 0o644); err != nil {
			return time.Time{}, err
		}
	}
	if err := git(repository, "add", "-A"); err != nil {
		return time.Time{}, err
	}
	err := git(repository, "commit", "-qm", "change "+content)
	return time.Now(), err
}

// ask runs a subcommand of pipedeck on the environment and returns what it took and how much it said.
func ask(ctx context.Context, bin, state string, args ...string) (time.Duration, int, error) {
	began := time.Now()
	out, err := environment(bin, state).Command(ctx, args...).Output()
	if err != nil {
		err = fmt.Errorf("pipedeck %s: %w", strings.Join(args, " "), err)
	}
	return time.Since(began), len(out), err
}
