// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/pipedeck/pipedeck/tui/text"
)

// session is the one of a connection.
type session struct {
	server  *Server
	channel ssh.Channel
	// user is the name with which the watcher has logged in, which proves nothing; address is that of the machine.
	user, address string
	// started is called when the session has begun.
	started func() bool
	// shows is called before the UI is shown.
	shows func()
	// hangUp closes the connection.
	hangUp func() error

	terminal *terminal
	environ  []string
	begun    bool
	// next is what begins after the answer to the request.
	next    func()
	running sync.WaitGroup
}

const (
	noTerminal = "the UI needs a terminal; run ssh without a command and with a terminal, or add -t"
	noCommands = "this server shows the UI of pipedeck and runs nothing else; run ssh without a command"
)

// serve answers the requests of the session until the channel is closed, and waits for its UI.
func (s *session) serve(ctx context.Context, requests <-chan *ssh.Request) {
	defer s.running.Wait()
	defer func() { _ = s.channel.Close() }() // it may be closed
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for r := range requests {
		ok := s.take(ctx, r)
		if r.WantReply {
			_ = r.Reply(ok, nil)
		}
		if s.next != nil { // after the answer, which a session that ends at once would cut off
			s.running.Go(s.next)
			s.next = nil
		}
	}
}

// take carries out a request and reports whether it could.
func (s *session) take(ctx context.Context, r *ssh.Request) bool {
	switch r.Type {
	case "pty-req":
		var ok bool
		if s.terminal == nil && !s.begun {
			s.terminal, ok = newTerminal(r.Payload)
		}
		return ok
	case "env":
		return !s.begun && s.setVariable(r.Payload)
	case "window-change":
		return s.terminal != nil && s.terminal.resize(r.Payload)
	case "shell":
		return s.begin(func() { s.show(ctx) })
	case "exec", "subsystem":
		return s.begin(func() { s.end(noCommands, 1) })
	}
	return false
}

// begin runs what the session is for, once.
func (s *session) begin(run func()) bool {
	if s.begun {
		return false
	}
	s.begun = true
	s.started()
	s.next = run
	return true
}

// show shows the UI, or says why not.
func (s *session) show(ctx context.Context) {
	switch {
	case s.terminal == nil:
		s.end(noTerminal, 1)
		return
	case !s.server.watchers.enter():
		s.end(fmt.Sprintf("%d people watch already, and there is no place for more; try again later", MaxUIs), 1)
		return
	}
	who := watcherName(s.user, s.address)
	s.shows()
	s.server.options.News(who + " watches over SSH")
	says := s.runUI(ctx)
	s.server.watchers.leave()
	s.server.options.News(who + " watches no more")
	s.end(says, 0)
}

// watcherName is a watcher for people.
func watcherName(user, address string) string {
	return fmt.Sprintf("%s (%s)", text.Cut(text.Line(user), maxName, "..."), address)
}

// maxName bounds the name of a watcher, in columns.
const maxName = 24

// end says why the session ends, and ends it. A client then closes the connection; one that does not is hung up on.
func (s *session) end(says string, status uint32) {
	time.AfterFunc(lastWords, func() { _ = s.hangUp() }) // it may be closed by then
	s.running.Go(func() {                                // what the client does not read holds up nothing
		if says != "" {
			var to io.Writer = s.channel.Stderr()
			if s.terminal != nil {
				to = s.channel // after the UI has left its screen; a client may mix the two up
			}
			_, _ = io.WriteString(to, "pipedeck: "+strings.ReplaceAll(says, "\n", " ")+"\r\n")
		}
		_, _ = s.channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
		_ = s.channel.Close()
	})
}
