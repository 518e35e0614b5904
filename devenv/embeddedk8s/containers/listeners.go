// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"fmt"
	"net"
	"os"
)

// Listeners reports who listens at the ports of 127.0.0.1. Its methods may be called from any goroutine.
type Listeners struct{ shown bool }

// NewListeners finds out whether this system shows who listens: it looks for a listener of this process.
func NewListeners() *Listeners {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return &Listeners{}
	}
	defer listener.Close()
	l := &Listeners{shown: true}
	view, err := l.Look(&Process{PID: os.Getpid()})
	if err != nil {
		return &Listeners{}
	}
	_, own := view.Own(listener.Addr().(*net.TCPAddr).Port, false)
	return &Listeners{shown: own}
}

// Shown reports whether this system shows who listens. If not, Look fails.
func (l *Listeners) Shown() bool { return l.shown }

// Listener is a socket at which a process listens.
type Listener struct {
	Port int
	// link is the process's descriptor of the socket, target names the socket.
	link, target string
}

// Open reports whether the process still has the socket. It is one system call.
func (l Listener) Open() bool {
	target, err := os.Readlink(l.link)
	return err == nil && target == l.target
}

// Holder is a process that listens.
type Holder struct {
	// PID is 0 when the system does not show the process, as is so with those of other users.
	PID  int
	Name string
	User int
}

// String is as in "PID 123 (postgres)".
func (h Holder) String() string {
	if h.PID == 0 {
		return fmt.Sprintf("a process of user %d", h.User)
	}
	return fmt.Sprintf("PID %d (%s)", h.PID, h.Name)
}
