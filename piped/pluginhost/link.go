// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"

	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
)

// linkVariable gives a plugin the descriptors of its link, as "config,serve,service". Plugins that can use
// them hold this text in their program, by which they are known before they are started: a variable's name
// cannot be optimized away, and unlike a module path it says that the very code is there.
const linkVariable = config.PluginLinkVariable

// linkValue names the descriptors after the pipe at 3 that reports the end of piped.
const linkValue = linkVariable + "=4,5,6"

// logsValue names the descriptor of the memory for stage logs, after those of the link. Plugins that do not know it
// ignore it.
const logsValue = "PIPEDECK_STAGE_LOG_MEMORY_FD=7"

// link is the private connection of piped and one plugin process: two pairs of sockets without a name, so
// that there is nothing for anybody else to connect to, and a pipe for the configuration, which holds
// secrets and so must not be on a command line.
type link struct {
	// theirs are the ends that the plugin inherits; closed once it has been started.
	theirs []*os.File
	config *os.File
	serve  net.Conn // piped calls the plugin
	called net.Conn // the plugin calls piped
	// logs is memory where the plugin keeps what it passes to stage logs until it has reported that.
	logs *os.File
}

func newLink() (_ *link, err error) {
	l := &link{}
	defer func() {
		if err != nil {
			l.close()
			err = fmt.Errorf("make the link to a plugin: %w", err)
		}
	}()
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	l.theirs, l.config = append(l.theirs, reader), writer
	if l.serve, err = l.pair(); err != nil {
		return nil, err
	}
	if l.called, err = l.pair(); err != nil {
		return nil, err
	}
	var shared *os.File
	if l.logs, shared, err = sharedMemory("stage logs", pluginservice.JournalSize); err != nil {
		return nil, err
	}
	l.theirs = append(l.theirs, shared)
	return l, nil
}

// pair makes two connected sockets, keeps one for the plugin and returns the other.
func (l *link) pair() (net.Conn, error) {
	syscall.ForkLock.RLock()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	l.theirs = append(l.theirs, os.NewFile(uintptr(fds[1]), "link"))
	ours := os.NewFile(uintptr(fds[0]), "link")
	defer ours.Close() // a connection has its own descriptor
	return net.FileConn(ours)
}

// started closes what only the plugin may hold, so that its end is seen, and sends the configuration. It
// returns when that has been read or the plugin is gone.
func (l *link) started(config []byte) {
	l.closeTheirs()
	_, _ = l.config.Write(config) // a plugin that does not read it does not answer either
	_ = l.config.Close()
}

func (l *link) closeTheirs() {
	for _, f := range l.theirs {
		_ = f.Close()
	}
	l.theirs = nil
}

func (l *link) close() {
	l.closeTheirs()
	for _, c := range []io.Closer{l.config, l.serve, l.called, l.logs} {
		switch c := c.(type) {
		case *os.File:
			if c != nil {
				_ = c.Close()
			}
		case net.Conn:
			_ = c.Close()
		}
	}
}

// linkPatience is longer than any debugger's session.
const linkPatience = 365 * 24 * time.Hour

var errLinkGone = errors.New("the link to the plugin is broken")

// overLink lets a client use the one connection that there is. It cannot be made again, so it is kept when
// idle, and is not given up: whoever starts the plugin bounds the wait for its first word, on a clock that stands
// still while a debugger holds the plugin.
func overLink(conn net.Conn) []grpc.DialOption {
	var once sync.Once
	return []grpc.DialOption{
		grpc.WithContextDialer(func(context.Context, string) (given net.Conn, err error) {
			err = errLinkGone
			once.Do(func() { given, err = conn, nil })
			return given, err
		}),
		grpc.WithIdleTimeout(0),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: time.Second, Multiplier: 1.6, MaxDelay: time.Minute},
			MinConnectTimeout: linkPatience,
		}),
	}
}
