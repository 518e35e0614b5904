// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/shirou/gopsutil/v4/process"

	"github.com/pipedeck/pipedeck/devenv/cluster/embedded"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/processtree"
)

const (
	// orphanPatience is how long children of a killed environment get to end by themselves.
	orphanPatience = 8 * time.Second
	orphanPoll     = 50 * time.Millisecond
)

// takeOver clears away what a killed run left behind and returns what the user should know,
// or "".
func (e *Environment) takeOver(ctx context.Context) string {
	last, err := e.Workspace.Published()
	if err != nil {
		return ""
	}
	ended := EndOrphans(ctx, e.Workspace)
	message := fmt.Sprintf("; took over from pid %d, which was killed", last.PID)
	if len(ended) > 0 {
		message += "; ended what it had left: " + strings.Join(ended, ", ")
	}
	e.Logger.Warn("the last run of this environment was killed; its data is used again", "pid", last.PID, "ended",
		ended)
	return message
}

// EndOrphans waits for the children of an environment that was killed: they end when their parent
// dies, but need a moment. One that does not is killed with its process group. It returns the
// names of those that were still there. The caller holds the environment's lock.
//
// A remembered process id may belong to someone else by now, so only a process with the same
// start time and the environment's directory on its command line counts.
func EndOrphans(ctx context.Context, w *workspace.Workspace) (ended []string) {
	children := map[string]workspace.Child{}
	if last, err := w.Published(); err == nil {
		children = last.Processes
	}
	for name, child := range children {
		if p := orphan(w, child); p != nil {
			ended = append(ended, name)
			endOrphan(ctx, w, child, p)
		}
	}
	if n := endTree(ctx, w.PipedDir()); n > 0 {
		ended = append(ended, processesOf(n, "plugins"))
	}
	clusters, _ := w.ClusterNames() // none that can be read has processes to find
	for _, name := range clusters {
		n := endTree(ctx, w.ClusterDir(name))
		more, _ := embedded.EndPods(ctx, w.ClusterDir(name)) // those that do not end have no other name to report
		if n += len(more); n > 0 {
			ended = append(ended, processesOf(n, "pods on "+name))
		}
	}
	slices.Sort(ended)
	return ended
}

func processesOf(n int, whose string) string {
	if n == 1 {
		return "1 process of " + whose
	}
	return fmt.Sprintf("%d processes of %s", n, whose)
}

// endTree ends what the program that works in a directory has left, once it is gone: piped its plugins, the embedded
// Kubernetes its pods, with all that descends from them. It returns the number of these processes.
func endTree(ctx context.Context, dir string) int {
	tree := processtree.Kept(filepath.Join(dir, processtree.FileName))
	if tree == nil {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, processtree.EndTimeout)
	defer cancel()
	ended, err := tree.End(ctx)
	if err == nil {
		tree.RemoveGroups()
	}
	return len(ended)
}

// Orphans returns the names of the processes that a killed environment has left; it ends none.
func Orphans(w *workspace.Workspace) (left []string) {
	last, err := w.Published()
	if err != nil {
		return nil
	}
	for name, child := range last.Processes {
		if orphan(w, child) != nil {
			left = append(left, name)
		}
	}
	slices.Sort(left)
	return left
}

func orphan(w *workspace.Workspace, child workspace.Child) *process.Process {
	p, err := process.NewProcess(int32(child.PID))
	if err != nil {
		return nil
	}
	created, err := p.CreateTime()
	if err != nil || created != child.CreatedAt {
		return nil
	}
	line, err := p.Cmdline()
	if err != nil || !strings.Contains(line, w.Dir) {
		return nil
	}
	return p
}

func endOrphan(ctx context.Context, w *workspace.Workspace, child workspace.Child, p *process.Process) {
	deadline := time.Now().Add(orphanPatience)
	for time.Now().Before(deadline) {
		// Its command line goes with it, also while no one has collected its exit code yet.
		if orphan(w, child) == nil {
			return
		}
		if !clock.Sleep(ctx, orphanPoll) {
			return
		}
	}
	// It leads its own process group: what it started goes with it.
	_ = syscall.Kill(-int(p.Pid), syscall.SIGKILL)
}

// childStarted returns what a child's start is reported to.
func (e *Environment) childStarted(name string) func(pid int) {
	return func(pid int) {
		child := workspace.Child{PID: pid}
		if p, err := process.NewProcess(int32(pid)); err == nil {
			child.CreatedAt, _ = p.CreateTime()
		}
		e.mu.Lock()
		e.running.Processes[name] = child
		e.mu.Unlock()
		if err := e.publish(); err != nil {
			e.Logger.Warn("the list of running processes could not be stored", "error", err)
		}
	}
}
