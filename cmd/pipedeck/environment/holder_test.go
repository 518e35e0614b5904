// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// silentHolder holds the lock of an environment and publishes an address at which connections get no answer. The
// channel has the first connection.
func silentHolder(t *testing.T) (*workspace.Workspace, *workspace.Lock, <-chan net.Conn) {
	t.Helper()
	w := environment(t, t.TempDir(), "demo")
	_, err := w.Keys().EnsureSecrets()
	require.NoError(t, err)
	lock, err := w.Acquire()
	require.NoError(t, err)
	t.Cleanup(func() { _ = lock.Release() })
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, w.Publish(workspace.Running{PID: 1, Address: listener.Addr().String()}))
	accepted := make(chan net.Conn, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if conn, err := listener.Accept(); err == nil {
			accepted <- conn
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		<-done
	})
	return w, lock, accepted
}

// The system closes the files of a killed process some time after the signal.
func TestAProcessThatIsBeingKilledDoesNotCountAsRunning(t *testing.T) {
	t.Parallel()
	w, lock, accepted := silentHolder(t)
	ended := make(chan error, 1)
	go func() {
		conn := <-accepted
		ended <- lock.Release()
		conn.Close()
	}()
	running, err := hasHolder(t.Context(), w)
	require.NoError(t, err)
	require.False(t, running)
	require.NoError(t, <-ended)
}

func TestAProcessThatHangsCountsAsRunning(t *testing.T) {
	t.Parallel()
	w, _, _ := silentHolder(t)
	running, err := hasHolder(t.Context(), w)
	require.NoError(t, err)
	require.True(t, running)
}
