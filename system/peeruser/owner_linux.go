// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package peeruser

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// tables list the sockets of this machine. A socket for IPv6 that is connected to an IPv4 address is in the second one.
var tables = []string{"/proc/net/tcp", "/proc/net/tcp6"}

// owner returns the user of the socket that connects local to remote.
func owner(local, remote netip.AddrPort) (uid uint64, found bool) {
	for _, table := range tables {
		if uid, found := ownerIn(table, local, remote); found {
			return uid, true
		}
	}
	return 0, false
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

// socketOwner finds the user of the socket that connects two addresses, in a table like /proc/net/tcp. Both addresses
// count, because several connections may share one local port.
func socketOwner(table io.Reader, local, remote netip.AddrPort) (uid uint64, found bool) {
	from, to := tableAddresses(local), tableAddresses(remote)
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 7 && slices.Contains(from, fields[1]) && slices.Contains(to, fields[2]) &&
			fields[3] != stateTimeWait {
			uid, err := strconv.ParseUint(fields[7], 10, 32)
			return uid, err == nil
		}
	}
	return 0, false
}

// tableAddresses returns the ways in which the kernel writes an address with its port: an IPv4 address as it is and
// within IPv6. All are words in the byte order of the machine.
func tableAddresses(a netip.AddrPort) []string {
	sixteen := a.Addr().As16()
	written := []string{fmt.Sprintf("%s:%04X", words(sixteen[:]), a.Port())}
	if address := a.Addr().Unmap(); address.Is4() {
		four := address.As4()
		written = append(written, fmt.Sprintf("%s:%04X", words(four[:]), a.Port()))
	}
	return written
}

func words(address []byte) string {
	var written strings.Builder
	for word := range slices.Chunk(address, 4) {
		fmt.Fprintf(&written, "%08X", binary.NativeEndian.Uint32(word))
	}
	return written.String()
}
