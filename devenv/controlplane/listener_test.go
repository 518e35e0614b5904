// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOneConnectionMoreWaitsUntilAnotherCloses(t *testing.T) {
	t.Parallel()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := limit(inner, 1)
	for range 2 {
		client, err := net.Dial("tcp", l.Addr().String())
		require.NoError(t, err)
		defer client.Close()
	}
	first, err := l.Accept()
	require.NoError(t, err)
	accepted := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		accepted <- err
	}()
	require.Empty(t, accepted)
	require.NoError(t, first.Close())
	require.ErrorIs(t, first.Close(), net.ErrClosed)
	require.NoError(t, <-accepted)
	go func() {
		_, err := l.Accept()
		accepted <- err
	}()
	require.NoError(t, l.Close())
	require.ErrorIs(t, <-accepted, net.ErrClosed)
}
