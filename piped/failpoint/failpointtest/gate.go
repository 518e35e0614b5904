// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package failpointtest lets tests meet a process at a named pipe: at a failpoint that holds, or at a
// stage of the test plugin.
package failpointtest

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const patience = time.Minute

// Gate is a named pipe. Who opens it for reading is held until the test opens the gate.
type Gate struct {
	// Path is that of the pipe.
	Path string

	held chan *os.File
	pipe *os.File
}

// NewGate creates a gate for one meeting. It is opened at the end of the test at the latest.
func NewGate(t *testing.T) *Gate {
	t.Helper()
	g := &Gate{Path: filepath.Join(t.TempDir(), "gate"), held: make(chan *os.File, 1)}
	require.NoError(t, syscall.Mkfifo(g.Path, 0o600))
	go func() {
		pipe, err := os.OpenFile(g.Path, os.O_WRONLY, 0) // blocks until someone reads
		if err != nil {
			pipe = nil
		}
		g.held <- pipe
	}()
	t.Cleanup(func() {
		if g.pipe == nil {
			reader, err := os.OpenFile(g.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // ends the wait for one
			require.NoError(t, err)
			defer reader.Close()
			g.pipe = <-g.held
		}
		g.Open()
	})
	return g
}

// Await returns when someone is held.
func (g *Gate) Await(t *testing.T) {
	t.Helper()
	select {
	case g.pipe = <-g.held:
		require.NotNil(t, g.pipe, "the gate could not be opened")
	case <-time.After(patience):
		require.Fail(t, "nothing came to the gate")
	}
}

// Open lets go who is held. Call it after Await.
func (g *Gate) Open() { _ = g.pipe.Close() }
