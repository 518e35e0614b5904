// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package porttest gives tests ports on which nothing listens until they do.
package porttest

import (
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/freeport"
)

// tries bounds the ports that other tests have.
const tries = 200

// Free returns a port of 127.0.0.1 on which nothing listens. Until the test ends, neither the system nor another test
// that asks here gets it, also when a server listens on it for a while and ends.
func Free(t testing.TB) int {
	t.Helper()
	for range tries {
		port, err := freeport.Choose()
		require.NoError(t, err)
		if reserved, err := reserve(port); err == nil {
			t.Cleanup(func() { _ = reserved.Close() })
			return port
		}
	}
	require.FailNow(t, "other tests have all ports")
	panic("unreachable")
}

// Address returns Free as an address of this machine.
func Address(t testing.TB) string {
	t.Helper()
	return address(Free(t))
}

// reserve takes a port for a test of any process, as the conformance suite of the SDK does. Nothing is sent to the port
// of UDP.
func reserve(port int) (net.PacketConn, error) { return net.ListenPacket("udp", address(port)) }

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
