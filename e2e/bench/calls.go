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
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/piped/plugincalls"
)

// callScale is how much is done for the cost of remembering calls.
type callScale struct{ commits, rounds int }

func (s *callScale) register(flags *flag.FlagSet) {
	flags.IntVar(&s.commits, "calls-commits", 30, "deployments of ten stages for the cost of remembering calls")
	flags.IntVar(&s.rounds, "calls-rounds", 5, "how often that is measured, with and without")
}

func (s *callScale) validate() error {
	if s.commits < 1 || s.rounds < 1 {
		return errors.New("-calls-commits and -calls-rounds must be at least 1")
	}
	return nil
}

var (
	callsCPU    = limit{"max", 2}  // % more
	callsMemory = limit{"max", 16} // MiB more
)

// callsApp has stages that write lines.
const callsApp = `apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: scripts
  planner:
    alwaysUsePipeline: true
    autoRollback: false
  pipeline:
    stages:
`

// used is what piped has used for the deployments: seconds of CPU, and MiB that were resident at their end.
type used struct{ cpu, memory float64 }

// benchCalls measures piped with and without remembering the calls of plugins, in turns: both meet the same machine.
func benchCalls(ctx context.Context, bin, dir string, size callScale) error {
	var with, without []used
	for round := range size.rounds {
		for _, mode := range []struct {
			value string
			to    *[]used
		}{{"on", &with}, {"off", &without}} {
			if err := os.Setenv(plugincalls.Variable, mode.value); err != nil { // for what is started from here
				return err
			}
			one, err := callsRound(ctx, bin, filepath.Join(dir, fmt.Sprint(round, mode.value)), size.commits)
			if err := errors.Join(err, os.Unsetenv(plugincalls.Variable)); err != nil {
				return err
			}
			*mode.to = append(*mode.to, one)
		}
	}
	cpu := func(u used) float64 { return u.cpu }
	memory := func(u used) float64 { return u.memory }
	number("piped without remembering calls, median", "CPU s", middle(without, cpu))
	number("piped with remembering calls, median", "CPU s", middle(with, cpu))
	number("remembering calls: more CPU", "%", 100*(middle(with, cpu)/middle(without, cpu)-1), callsCPU)
	number("remembering calls: more memory", "MiB", middle(with, memory)-middle(without, memory), callsMemory)
	return nil
}

// middle is the median of one figure.
func middle(all []used, figure func(used) float64) float64 {
	var figures []float64
	for _, one := range all {
		figures = append(figures, figure(one))
	}
	slices.Sort(figures)
	return figures[len(figures)/2]
}

// callsRound deploys commits in a new environment.
func callsRound(ctx context.Context, bin, dir string, commits int) (one used, err error) {
	repo := filepath.Join(dir, "repository")
	if err := os.MkdirAll(filepath.Join(repo, "scripts"), 0o755); err != nil {
		return one, err
	}
	stage := strings.Replace(scriptStage, `"true"`, `"seq 200"`, 1)
	if err := os.WriteFile(filepath.Join(repo, "scripts", "app.pipecd.yaml"),
		[]byte(callsApp+strings.Repeat(stage, stages)), 0o644); err != nil {
		return one, err
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"commit", "-qm", "start"}} {
		if err := git(repo, args...); err != nil {
			return one, err
		}
	}
	state := filepath.Join(dir, "state")
	s, err := start(ctx, bin, state, repo, "--cluster", "none", "--keep=false")
	if err != nil {
		return one, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	agent, err := awaitAgent(s, state)
	if err != nil {
		return one, err
	}
	if _, err := s.await("the first deployment", deployment("scripts", "SUCCESS")); err != nil {
		return one, err
	}
	before, err := cpuAlone(agent.pid)
	if err != nil {
		return one, err
	}
	for i := range commits {
		if _, _, err := commit(repo, "scripts/note", fmt.Sprint(i)); err != nil {
			return one, err
		}
		if _, err := s.await("the deployment ends", deployment("scripts", "SUCCESS")); err != nil {
			return one, err
		}
	}
	after, err := cpuAlone(agent.pid)
	if err != nil {
		return one, err
	}
	one.cpu = (after - before).Seconds()
	one.memory, err = residentOf(agent.pid)
	one.memory /= 1 << 20
	return one, err
}
