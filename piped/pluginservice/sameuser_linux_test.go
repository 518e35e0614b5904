// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheOwnerOfASocketIsFound(t *testing.T) {
	t.Parallel()
	address := fmt.Sprintf("%08X", binary.NativeEndian.Uint32([]byte{127, 0, 0, 1}))
	table := "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n" +
		"   0: " + address + ":1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1\n" +
		"   1: " + address + ":A001 " + address + ":1F90 01 00000000:00000000 00:00000000 00000000  1234        0 222 1\n"
	uid, found := socketOwner(strings.NewReader(table), netip.MustParseAddrPort("127.0.0.1:40961"))
	require.True(t, found)
	require.EqualValues(t, 1234, uid)
	_, found = socketOwner(strings.NewReader(table), netip.MustParseAddrPort("127.0.0.1:40962"))
	require.False(t, found)
	_, found = socketOwner(strings.NewReader(table), netip.MustParseAddrPort("[::1]:40961"))
	require.False(t, found)
}

func TestAConnectionOfThisUserIsLetThrough(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	defer client.Close()
	conn, err := listener.Accept()
	require.NoError(t, err)
	defer conn.Close()
	require.NoError(t, sameUser(conn))

	table, err := os.Open("/proc/net/tcp")
	require.NoError(t, err)
	defer table.Close()
	uid, found := socketOwner(table, conn.RemoteAddr().(*net.TCPAddr).AddrPort())
	require.True(t, found, "the kernel's table is read as it is")
	require.EqualValues(t, os.Getuid(), uid)
}
