// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package peeruser

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheOwnerOfASocketIsFound(t *testing.T) {
	t.Parallel()
	address := fmt.Sprintf("%08X", binary.NativeEndian.Uint32([]byte{127, 0, 0, 1}))
	within := fmt.Sprintf("%016X%08X%s", 0, binary.NativeEndian.Uint32([]byte{0, 0, 0xff, 0xff}), address)
	const rest = " 00000000:00000000 00:00000000 00000000 "
	table := "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n" +
		"   0: " + address + ":1F90 00000000:0000 0A" + rest + " 1000        0 111 1\n" +
		// the same port, to elsewhere
		"   1: " + address + ":A001 " + address + ":1538 01" + rest + " 1001        0 112 1\n" +
		"   2: " + address + ":A001 " + address + ":1F90 06" + rest + "    0        0 0 3\n" + // an earlier connection
		"   3: " + address + ":A001 " + address + ":1F90 01" + rest + " 1234        0 222 1\n" +
		"   4: " + within + ":A003 " + within + ":1F90 01" + rest + " 1235        0 223 1\n"
	server := netip.MustParseAddrPort("127.0.0.1:8080")
	find := func(client string) (uint64, bool) {
		return socketOwner(strings.NewReader(table), netip.MustParseAddrPort(client), server)
	}
	uid, found := find("127.0.0.1:40961")
	require.True(t, found)
	require.EqualValues(t, 1234, uid)
	uid, found = find("127.0.0.1:40963")
	require.True(t, found, "a socket for IPv6 that is connected to an IPv4 address")
	require.EqualValues(t, 1235, uid)
	_, found = find("127.0.0.1:40962")
	require.False(t, found)
	_, found = find("[::1]:40961")
	require.False(t, found)
	six := fmt.Sprintf("%024X%08X", 0, binary.NativeEndian.Uint32([]byte{0, 0, 0, 1}))
	uid, found = socketOwner(strings.NewReader("0: "+six+":A001 "+six+":1F90 01"+rest+" 1236 0 224 1\n"),
		netip.MustParseAddrPort("[::1]:40961"), netip.MustParseAddrPort("[::1]:8080"))
	require.True(t, found, "an IPv6 address")
	require.EqualValues(t, 1236, uid)
}

func TestAConnectionOfThisUserIsLetThrough(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	client, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	defer client.Close()
	conn, err := listener.Accept()
	require.NoError(t, err)
	defer conn.Close()
	requireOwn(t, conn, "/proc/net/tcp")
}

func TestAConnectionByASocketForIPv6IsSeenToo(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	fd, err := syscall.Socket(syscall.AF_INET6, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	defer syscall.Close(fd)
	to := &syscall.SockaddrInet6{Port: listener.Addr().(*net.TCPAddr).Port}
	copy(to.Addr[:], net.IPv4(127, 0, 0, 1).To16())
	require.NoError(t, syscall.Connect(fd, to))
	conn, err := listener.Accept()
	require.NoError(t, err)
	defer conn.Close()
	requireOwn(t, conn, "/proc/net/tcp6")
}

// requireOwn holds the kernel's table to be read as it is.
func requireOwn(t *testing.T, conn net.Conn, table string) {
	t.Helper()
	require.NoError(t, Check(conn))
	uid, found := ownerIn(table, conn.RemoteAddr().(*net.TCPAddr).AddrPort(),
		conn.LocalAddr().(*net.TCPAddr).AddrPort())
	require.True(t, found)
	require.EqualValues(t, os.Geteuid(), uid)
}
