// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"net"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func TestNoOtherSuiteGetsThePortOfAProgramThatDoesNotListenYet(t *testing.T) {
	t.Parallel()
	s := &suite{}
	port, err := s.freePort()
	require.NoError(t, err)
	_, err = reserve(port)
	require.Error(t, err, "as a suite of another process would")
	listener, err := net.Listen("tcp", loopback(port))
	require.NoError(t, err, "the program gets it")
	require.NoError(t, listener.Close())
	require.NoError(t, s.close())
}
