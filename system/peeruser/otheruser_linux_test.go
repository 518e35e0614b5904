// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package peeruser_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/peeruser"
	"github.com/pipedeck/pipedeck/system/peeruser/otheruser"
)

func TestAConnectionOfAnotherUserIsRefused(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		listener, err := net.Listen("tcp", address)
		if err != nil && address == "[::1]:0" {
			t.Log("this machine has no IPv6")
			continue
		}
		require.NoError(t, err)
		defer listener.Close()
		otheruser.Dial(t, listener.Addr().String())
		conn, err := listener.Accept()
		require.NoError(t, err)
		defer conn.Close()
		var refused *peeruser.Error
		require.ErrorAs(t, peeruser.Check(conn), &refused)
		require.EqualValues(t, otheruser.UID, refused.UID)
	}
}
