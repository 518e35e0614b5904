// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/shirou/gopsutil/v4/disk"

	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

const (
	// lookInterval is the time between two looks at what no event reports: free space, a directory that was moved.
	lookInterval = 5 * time.Second
	// minFree is the free space below which the disk of the environment counts as full, in bytes.
	minFree = 32 << 20
)

// The parts whose problems are set here and by reportTree.
const (
	partDisk = "disk"
	partRoot = "directory of the working tree"
	partTree = "working tree"
)

// watchDirs reports when the disk of the environment is full or a directory that it needs is gone, until ctx ends.
func (e *Environment) watchDirs(ctx context.Context) {
	for {
		e.lookAtDisk(ctx)
		e.lookAtTree()
		if !pause(ctx, lookInterval) {
			return
		}
	}
}

func (e *Environment) lookAtDisk(ctx context.Context) {
	usage, err := disk.UsageWithContext(ctx, e.Workspace.Dir)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		e.server.SetProblem(store.Problem{
			Part:     partDisk,
			Reason:   fmt.Sprintf("the environment's directory %s cannot be used: %v", e.Workspace.Dir, err),
			NextStep: "end the environment and start it again: pipedeck down; pipedeck up",
		})
	case usage.Free < minFree:
		e.server.SetProblem(store.Problem{
			Part:     partDisk,
			Reason:   fmt.Sprintf("the disk of %s is full: %d MiB are free; history, commits and logs may not be written", e.Workspace.Dir, usage.Free>>20),
			NextStep: "free space on that disk; work goes on by itself then",
		})
	default:
		e.server.ClearProblem(partDisk)
	}
}

// lookAtTree is for live environments, whose piped watches another repository than the user's.
func (e *Environment) lookAtTree() {
	repository := e.repository.Load()
	if !e.Live || repository == nil {
		return
	}
	if _, err := os.Stat(repository.Root); err != nil {
		e.server.SetProblem(store.Problem{
			Part: partRoot, Component: componentRepository, Reason: "the working tree is gone: " + err.Error(), NextStep: "bring it back to " + repository.Root,
		})
		return
	}
	e.server.ClearProblem(partRoot)
}
