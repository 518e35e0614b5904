// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package peeruser

import (
	"fmt"
	"net"
	"os"
)

// Error refuses a connection that a process of another user has made.
type Error struct {
	// UID is the id of that user.
	UID uint64
}

func (e *Error) Error() string {
	return fmt.Sprintf("a process of user %d may not connect: only user %d may", e.UID, os.Geteuid())
}

// Check returns an *Error when a process of another user than the calling one has made an accepted TCP connection. It
// returns nil when the system does not know the user. It reads a table of the kernel, so call it outside of a loop that
// accepts.
func Check(conn net.Conn) error {
	theirs, ok := conn.RemoteAddr().(*net.TCPAddr)
	ours, also := conn.LocalAddr().(*net.TCPAddr)
	if !ok || !also {
		return nil
	}
	if uid, found := owner(theirs.AddrPort(), ours.AddrPort()); found && uid != uint64(os.Geteuid()) {
		return &Error{uid}
	}
	return nil
}
