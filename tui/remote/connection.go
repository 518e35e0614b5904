// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// connection is that of one watcher.
type connection struct {
	server  *Server
	conn    net.Conn
	address string
	// user is the name of a login with the password, usedPassword that there was one, and watched that the UI was
	// shown.
	user                  string
	usedPassword, watched bool
}

// noForwarding is the answer to whoever wants more than the UI.
const noForwarding = "this server shows the UI of pipedeck and forwards nothing"

// serve ends when the watcher is gone, or soon after ctx.
func (c *connection) serve(ctx context.Context) {
	defer c.conn.Close()
	defer c.passwordUsedInVain() // after all that could show the UI
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	defer c.conn.Close() // ends what waits for the watcher

	// The end of ctx gives a UI the time to say why; a login is cut off.
	loggedIn := make(chan struct{})
	running.Go(func() {
		<-ctx.Done()
		select {
		case <-loggedIn:
			c.closeAfter(lastWords)
		default:
			_ = c.conn.Close()
		}
	})
	_ = c.conn.SetDeadline(time.Now().Add(helloTime))
	conn, channels, requests, err := ssh.NewServerConn(c.conn, c.configuration(ctx))
	if err != nil {
		return
	}
	_ = c.conn.SetDeadline(time.Time{})
	close(loggedIn)
	if trusted, ok := c.conn.(interface{ Trust() }); ok {
		trusted.Trust()
	}
	running.Go(func() { refuse(requests) })
	running.Go(func() { c.keepAlive(ctx, conn) })
	running.Go(func() {
		_ = conn.Wait() // the watcher is gone
		cancel()
	})
	c.sessions(ctx, conn, channels, &running)
}

// passwordUsedInVain says that a login with the password has not led to the UI. The password has changed, so whoever
// passes it on must hear of it, as when someone watches.
func (c *connection) passwordUsedInVain() {
	if c.usedPassword && !c.watched {
		c.server.options.News(watcherName(c.user, c.address) + " has used the password, but did not open the UI")
	}
}

// closeAfter closes the connection after a time, unless it is closed before.
func (c *connection) closeAfter(wait time.Duration) {
	time.AfterFunc(wait, func() { _ = c.conn.Close() })
}

// sessions shows the UI in the first session; a connection has no other.
func (c *connection) sessions(ctx context.Context, conn *ssh.ServerConn, channels <-chan ssh.NewChannel,
	running *sync.WaitGroup) {
	late := time.AfterFunc(startTime, func() { _ = c.conn.Close() })
	defer late.Stop()
	begun := false
	for asked := range channels {
		if asked.ChannelType() != "session" {
			_ = asked.Reject(ssh.Prohibited, noForwarding)
			continue
		}
		if begun {
			_ = asked.Reject(ssh.ResourceShortage, "there is one session in a connection")
			continue
		}
		begun = true
		channel, requests, err := asked.Accept()
		if err != nil {
			return
		}
		running.Go(func() {
			s := &session{server: c.server, channel: channel, user: conn.User(), address: c.address,
				started: late.Stop, hangUp: c.conn.Close, shows: func() { c.watched = true }}
			s.serve(ctx, requests)
			_ = conn.Close()
		})
	}
}

// refuse answers requests about the connection, such as to listen on a port. The answer is a sign of life, too.
func refuse(requests <-chan *ssh.Request) {
	for r := range requests {
		if r.WantReply {
			_ = r.Reply(false, nil)
		}
	}
}

// keepAlive closes the connection of a watcher that does not answer.
func (c *connection) keepAlive(ctx context.Context, conn *ssh.ServerConn) {
	every := c.server.options.KeepAlive
	for {
		select {
		case <-c.server.options.Clock.After(every):
		case <-ctx.Done():
			return
		}
		silent := time.AfterFunc(2*every, func() { _ = c.conn.Close() })
		_, _, err := conn.SendRequest("keepalive@openssh.com", true, nil)
		silent.Stop()
		if err != nil {
			return
		}
	}
}
