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
	"strconv"
	"strings"
)

// sameUser refuses a loopback connection that a process of another user has made. What the kernel does not
// tell is let through: PipeCD v1 asks nobody.
func sameUser(conn net.Conn) error {
	remote, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return nil
	}
	file, err := os.Open("/proc/net/tcp")
	if err != nil {
		return nil
	}
	defer file.Close()
	uid, found := socketOwner(file, remote.AddrPort())
	if found && uid != uint64(os.Getuid()) {
		return &otherUserError{uid}
	}
	return nil
}

// socketOwner finds the user of the socket with a local IPv4 address in a table like /proc/net/tcp, which is
// in the byte order of the machine.
func socketOwner(table io.Reader, local netip.AddrPort) (uid uint64, found bool) {
	address := local.Addr().Unmap()
	if !address.Is4() {
		return 0, false
	}
	four := address.As4()
	want := fmt.Sprintf("%08X:%04X", binary.NativeEndian.Uint32(four[:]), local.Port())
	lines := bufio.NewScanner(table)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) > 7 && fields[1] == want {
			uid, err := strconv.ParseUint(fields[7], 10, 32)
			return uid, err == nil
		}
	}
	return 0, false
}
