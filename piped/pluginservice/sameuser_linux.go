// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// sameUser refuses a loopback connection that a process of another user has made. What the kernel does not
// tell is let through: PipeCD v1 asks nobody.
func sameUser(conn net.Conn) error {
	theirs, ok := conn.RemoteAddr().(*net.TCPAddr)
	ours, also := conn.LocalAddr().(*net.TCPAddr)
	if !ok || !also {
		return nil
	}
	// A socket for IPv6 reaches 127.0.0.1 as well, and stands in the other table.
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		uid, found := ownerIn(table, theirs.AddrPort(), ours.AddrPort())
		if found && uid != uint64(os.Getuid()) {
			return &otherUserError{uid}
		}
	}
	return nil
}

func ownerIn(table string, local, remote netip.AddrPort) (uid uint64, found bool) {
	file, err := os.Open(table)
	if err != nil {
		return 0, false
	}
	defer file.Close()
	return socketOwner(file, local, remote)
}

// stateTimeWait is TCP_TIME_WAIT in the tables of /proc/net: such a socket has no user any more.
const stateTimeWait = "06"

// socketOwner finds the user of the socket that connects two IPv4 addresses, in a table like /proc/net/tcp or
// /proc/net/tcp6. Both count: one local port may be that of several connections.
func socketOwner(table io.Reader, local, remote netip.AddrPort) (uid uint64, found bool) {
	if !local.Addr().Unmap().Is4() || !remote.Addr().Unmap().Is4() {
		return 0, false
	}
	from, to := tableAddresses(local), tableAddresses(remote)
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 7 && slices.Contains(from, fields[1]) && slices.Contains(to, fields[2]) && fields[3] != stateTimeWait {
			uid, err := strconv.ParseUint(fields[7], 10, 32)
			return uid, err == nil
		}
	}
	return 0, false
}

// tableAddresses are the ways in which the kernel writes an IPv4 address with its port: as it is, and within
// IPv6. Both are in the byte order of the machine.
func tableAddresses(a netip.AddrPort) []string {
	four := a.Addr().Unmap().As4()
	word := binary.NativeEndian.Uint32(four[:])
	mapped := binary.NativeEndian.Uint32([]byte{0, 0, 0xff, 0xff})
	return []string{
		fmt.Sprintf("%08X:%04X", word, a.Port()),
		fmt.Sprintf("%016X%08X%08X:%04X", 0, mapped, word, a.Port()),
	}
}
