// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package freeport

import (
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPortIsNotOneThatTheSystemGivesToOthers(t *testing.T) {
	t.Parallel()
	port, err := Choose()
	require.NoError(t, err)
	for range 100 {
		other, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.Less(t, port, other.Addr().(*net.TCPAddr).Port)
		require.NoError(t, other.Close())
	}
}

func TestProgramsThatAreStartedAtTheSameTimeGetDifferentPorts(t *testing.T) {
	t.Parallel()
	var seen sync.Map
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				port, err := Choose()
				if err != nil {
					t.Error(err)
					return
				}
				if _, known := seen.LoadOrStore(port, true); known {
					t.Errorf("port %d is chosen twice", port)
				}
			}
		})
	}
	all.Wait()
}

func TestAPortInUseIsNotChosen(t *testing.T) {
	t.Parallel()
	port, err := Choose()
	require.NoError(t, err)
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	require.NoError(t, err)
	defer listener.Close()
	_, err = release(port)
	require.Error(t, err)
}
