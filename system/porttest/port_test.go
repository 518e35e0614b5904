// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package porttest

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPortBelongsToOneTest(t *testing.T) {
	t.Parallel()
	port := Free(t)
	_, err := reserve(port)
	require.Error(t, err, "as a test of another process would")
	for range 2 {
		listener, err := net.Listen("tcp", address(port))
		require.NoError(t, err, "the test gets it, again and again")
		require.NoError(t, listener.Close())
	}
}

func TestTestsGetDifferentPorts(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 100 {
		address := Address(t)
		require.False(t, seen[address])
		seen[address] = true
	}
}
