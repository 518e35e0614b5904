// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/mem"
	"golang.org/x/sys/unix"

	"github.com/pipedeck/pipedeck/devenv/cluster/engine"
	"github.com/pipedeck/pipedeck/devenv/env"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/filewatch"
)

// connectWithin bounds a connection to this machine itself.
const connectWithin = 5 * time.Second

// System is all that the checks see of the machine.
type System struct {
	ReadFile func(path string) ([]byte, error)
	Getenv   func(name string) string
	Run      engine.Command
	// Free returns the bytes that a user may still write below a directory that need not exist.
	Free func(ctx context.Context, dir string) (uint64, error)
	// Memory returns the bytes that programs may still use.
	Memory func(ctx context.Context) (uint64, error)
	// Listen opens a port of the loopback interface and connects to it, Watch opens a watch of a directory.
	Listen, Watch func() error
	// Mount says how the file system of a directory may be used, which need not exist.
	Mount func(dir string) (Mount, error)
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
		Listen:  connectToItself,
		Watch:   filewatch.Check,
		Mount:   func(dir string) (Mount, error) { return mountOf(existing(dir)) },
		Orphans: env.Orphans,
	}
}

// connectToItself connects to a port of the loopback interface. Systems let programs listen on an interface that is
// down.
func connectToItself() error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	conn, err := net.DialTimeout("tcp", listener.Addr().String(), connectWithin)
	if err != nil {
		return err
	}
	return conn.Close()
}

// Mount is how this user may use the file system of a directory.
type Mount struct {
	// Writable is false when the user may not create anything in it, Executable when no program there can be started.
	Writable, Executable bool
}

// mountOf returns the Mount of a directory that exists.
func mountOf(dir string) (Mount, error) {
	var found unix.Statfs_t
	if err := unix.Statfs(dir, &found); err != nil {
		return Mount{}, fmt.Errorf("look at the file system of %s: %w", dir, err)
	}
	return Mount{
		Writable:   unix.Access(dir, unix.W_OK|unix.X_OK) == nil, // false on one that is mounted read-only, too
		Executable: uint64(found.Flags)&noExec == 0,
	}, nil
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
