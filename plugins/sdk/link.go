// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// linkEnv holds three descriptors that the agent hands to a plugin, as "config,serve,service": a pipe with
// the plugin's entry of the piped configuration, a socket over which piped calls the plugin, and one over
// which the plugin calls piped. No one else can reach those sockets, because they have no name. The agent finds
// this very text in a plugin's program and so knows that the plugin can read them.
const linkEnv = "PIPEDECK_PLUGIN_LINK_V1"

// maxLinkConfig bounds the configuration in bytes.
const maxLinkConfig = 64 << 20

// link is what the agent has handed over.
type link struct {
	config  string
	serve   net.Conn
	service net.Conn
	// journal is nil under a piped that does not take stage logs that way.
	journal *logJournal
}

// openLink takes what the agent offers; nil when it offers nothing, as PipeCD's piped. The variable is
// removed and the descriptors are closed in programs that the plugin starts.
func openLink() (*link, error) {
	value := os.Getenv(linkEnv)
	if value == "" {
		return nil, nil
	}
	if err := os.Unsetenv(linkEnv); err != nil {
		return nil, err
	}
	fds, err := parseLink(value)
	if err != nil {
		return nil, err
	}
	for _, fd := range fds {
		syscall.CloseOnExec(fd)
	}
	config, err := readConfig(fds[0])
	if err != nil {
		return nil, err
	}
	l := &link{config: config}
	if l.serve, err = inherited(fds[1]); err != nil {
		return nil, err
	}
	if l.service, err = inherited(fds[2]); err != nil {
		return nil, errors.Join(err, l.serve.Close())
	}
	return l, nil
}

func (l *link) close() {
	_ = l.serve.Close()
	_ = l.service.Close()
}

func parseLink(value string) ([3]int, error) {
	var fds [3]int
	parts := strings.Split(value, ",")
	if len(parts) != len(fds) {
		return fds, fmt.Errorf("%s is %q, want three descriptors", linkEnv, value)
	}
	for i, part := range parts {
		fd, err := strconv.Atoi(part)
		if err != nil || fd < 3 {
			return fds, fmt.Errorf("%s is %q, want three descriptors", linkEnv, value)
		}
		fds[i] = fd
	}
	return fds, nil
}

func readConfig(fd int) (string, error) {
	file := os.NewFile(uintptr(fd), "configuration")
	if file == nil {
		return "", fmt.Errorf("%s names descriptor %d, which is not open", linkEnv, fd)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxLinkConfig+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the configuration from the agent: %w", err)
	case len(data) > maxLinkConfig:
		return "", fmt.Errorf("the configuration from the agent is larger than %d bytes", maxLinkConfig)
	}
	return string(data), nil
}

// inherited makes a connection of a descriptor, which it closes: connections have their own.
func inherited(fd int) (net.Conn, error) {
	file := os.NewFile(uintptr(fd), "link")
	if file == nil {
		return nil, fmt.Errorf("%s names descriptor %d, which is not open", linkEnv, fd)
	}
	defer file.Close()
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("%s names descriptor %d, which is not a socket: %w", linkEnv, fd, err)
	}
	return conn, nil
}

// soleConn is a listener whose one client is connected already.
type soleConn struct {
	conn   chan net.Conn
	closed chan struct{}
	close  func()
}

func newSoleConn(conn net.Conn) *soleConn {
	l := &soleConn{conn: make(chan net.Conn, 1), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { close(l.closed) })
	l.conn <- conn
	return l
}

func (l *soleConn) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conn:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *soleConn) Close() error {
	l.close()
	return nil
}

func (l *soleConn) Addr() net.Addr { return linkAddr{} }

// linkAddr is the address of what has none.
type linkAddr struct{}

func (linkAddr) Network() string { return "link" }
func (linkAddr) String() string  { return "the agent's link" }
