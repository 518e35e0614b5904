// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package standin_test

import (
	"net"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

// Servers that ask for any port, such as those of other tests, must not get the one that a plugin is about to use.
func TestAFreePortIsNotOneThatTheSystemGivesToOthers(t *testing.T) {
	t.Parallel()
	port, err := standin.FreePort(t.Context())
	require.NoError(t, err)
	for range 100 {
		other, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.Less(t, port, other.Addr().(*net.TCPAddr).Port)
		require.NoError(t, other.Close())
	}
}
