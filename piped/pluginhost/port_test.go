// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// Nothing holds the port until the plugin listens there.
func TestAPluginWithoutAPortGetsNoneThatTheSystemGivesToOthers(t *testing.T) {
	t.Parallel()
	port, err := choosePort("p", 0)
	require.NoError(t, err)
	other, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer other.Close()
	require.Less(t, port, other.Addr().(*net.TCPAddr).Port)
}
