// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/shirou/gopsutil/v4/disk"

	"github.com/pipedeck/pipedeck/devenv/controlplane"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// lookInterval is the time between two checks of what no event reports: free space, a directory that was moved.
	lookInterval = 5 * time.Second
	// minFree is the free space below which the disk of the environment counts as full, in bytes.
	minFree = 32 << 20
)

// The parts whose problems are set here and by treeReport.
const (
	partDisk = store.PartDisk
	partRoot = "directory of the working tree"
	partTree = "working tree"
)

// directories are those that an environment needs as long as it runs.
type directories struct {
	home string // of the environment
	// tree returns the root of the working tree; empty when piped watches the tree itself.
	tree   func() string
	server *controlplane.Server
	// startAgain is the command that ends the environment and starts it.
	startAgain string
}

// watch reports when the disk of the environment is full or a directory that it needs is gone, until ctx ends.
func (d directories) watch(ctx context.Context) {
	home, _ := os.Stat(d.home) // nil when it is gone already
	for {
		if d.homeIsGone(home) {
			d.server.SetProblem(store.Problem{
				Part:   partDisk,
				Reason: "the environment's directory was removed or replaced while it runs: " + d.home,
				NextStep: fmt.Sprintf("end it with: kill %d; then start it again: %s", os.Getpid(),
					d.startAgain),
			})
		} else {
			d.checkDisk(ctx)
		}
		d.checkTree()
		if !clock.Sleep(ctx, lookInterval) {
			return
		}
	}
}

// homeIsGone reports whether another directory, or none, is in the place of the environment's.
func (d directories) homeIsGone(before os.FileInfo) bool {
	now, err := os.Stat(d.home)
	return errors.Is(err, fs.ErrNotExist) || err == nil && (before == nil || !os.SameFile(before, now))
}

func (d directories) checkDisk(ctx context.Context) {
	usage, err := disk.UsageWithContext(ctx, d.home)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		d.server.SetProblem(store.Problem{
			Part:     partDisk,
			Reason:   fmt.Sprintf("the environment's directory %s cannot be used: %v", d.home, err),
			NextStep: "end the environment and start it again: " + d.startAgain,
		})
	case usage.Free < minFree:
		d.server.SetProblem(store.Problem{
			Part: partDisk,
			Reason: fmt.Sprintf("the disk of %s is full: %d MiB are free; history, commits and logs may not be written",
				d.home, usage.Free>>20),
			NextStep: "free space on that disk; work goes on by itself then",
		})
	default:
		d.server.ClearProblem(partDisk)
	}
}

// checkTree is for live environments, whose piped watches another repository than the user's.
func (d directories) checkTree() {
	root := d.tree()
	if root == "" {
		return
	}
	if _, err := os.Stat(root); err != nil {
		d.server.SetProblem(store.Problem{
			Part: partRoot, Component: componentRepository, Reason: "the working tree is gone: " + err.Error(),
			NextStep: "bring it back to " + root,
		})
		return
	}
	d.server.ClearProblem(partRoot)
}
