// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/containers"
	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/kubeletapi"
)

var _ kubeletapi.Containers = (*Manager)(nil)

// Output returns the current run of a container, or the one before. It also finds the output of pods that ended before
// the cluster was restarted. The error is kubeletapi.ErrNotFound.
func (m *Manager) Output(uid types.UID, container string, previous bool) (kubeletapi.Output, error) {
	dir := logsDir(filepath.Join(m.config.Dir, string(uid)), container)
	if !filepath.IsLocal(string(uid)) || !filepath.IsLocal(container) {
		return kubeletapi.Output{}, kubeletapi.ErrNotFound
	}
	runs := runsIn(dir)
	if previous && len(runs) > 0 {
		runs = runs[:len(runs)-1]
	}
	if len(runs) == 0 {
		return kubeletapi.Output{}, kubeletapi.ErrNotFound
	}
	path := logFile(dir, runs[len(runs)-1])
	output := kubeletapi.Output{Files: []string{path}}
	if older := containers.Rotated(path); exists(older) {
		output.Files = []string{older, path}
	}
	if p := m.find(uid); p != nil && !previous {
		if process := p.processOf(container); process != nil {
			output.Ended = process.Ended()
		}
	}
	return output, nil
}

// Inside returns the surroundings of a container that runs. The error is kubeletapi.ErrNotFound.
func (m *Manager) Inside(uid types.UID, container string) (kubeletapi.Inside, error) {
	p := m.find(uid)
	if p == nil {
		return kubeletapi.Inside{}, kubeletapi.ErrNotFound
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	run, ok := p.running[container]
	if !ok {
		return kubeletapi.Inside{}, kubeletapi.ErrNotFound
	}
	return kubeletapi.Inside{
		Dir: run.dir, Root: filepath.Join(p.dir, "root", container), Env: run.env, Launch: run.process.Launch,
		Ended: run.process.Ended(), Stdin: stdin(run.process, run.stdinOnce),
	}, nil
}

// processOf is the process of a container that runs; nil for none.
func (p *pod) processOf(container string) *containers.Process {
	p.mu.Lock()
	defer p.mu.Unlock()
	if run := p.running[container]; run != nil {
		return run.process
	}
	return nil
}

// runsIn are the numbers of the runs that have a log, oldest first.
func runsIn(dir string) []int {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var runs []int
	for _, entry := range entries {
		if name, ok := strings.CutSuffix(entry.Name(), ".log"); ok {
			if number, err := strconv.Atoi(name); err == nil {
				runs = append(runs, number)
			}
		}
	}
	slices.Sort(runs)
	return runs
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
