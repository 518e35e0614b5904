// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"net"
	"os"
	"path/filepath"

	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/mem"

	"github.com/pipedeck/pipedeck/devenv/cluster/engine"
	"github.com/pipedeck/pipedeck/devenv/env"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/filewatch"
)

// System is all that the checks see of the machine.
type System struct {
	ReadFile func(path string) ([]byte, error)
	Getenv   func(name string) string
	Run      engine.Command
	// Free returns the bytes that a user may still write below a directory that need not exist.
	Free func(ctx context.Context, dir string) (uint64, error)
	// Memory returns the bytes that programs may still use.
	Memory func(ctx context.Context) (uint64, error)
	// Listen opens and closes a port of the loopback interface, Watch a watch of a directory.
	Listen, Watch func() error
	// Orphans names the processes that a killed environment has left.
	Orphans func(*workspace.Workspace) []string
}

// ThisMachine returns the System of the machine that this process runs on.
func ThisMachine() System {
	return System{
		ReadFile: os.ReadFile,
		Getenv:   os.Getenv,
		Run:      engine.Run,
		Free: func(ctx context.Context, dir string) (uint64, error) {
			usage, err := disk.UsageWithContext(ctx, existing(dir))
			if err != nil {
				return 0, err
			}
			return usage.Free, nil
		},
		Memory: func(ctx context.Context) (uint64, error) {
			memory, err := mem.VirtualMemoryWithContext(ctx)
			if err != nil {
				return 0, err
			}
			return memory.Available, nil
		},
		Listen: func() error {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			return listener.Close()
		},
		Watch:   filewatch.Check,
		Orphans: env.Orphans,
	}
}

// existing is the nearest directory above that is there.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}
