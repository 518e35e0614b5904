// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/version"
	"github.com/pipedeck/pipedeck/devenv/player"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/system/connlimit"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/page"
)

// webBounds bound what browsers occupy; a connection with the cookie of a session is trusted.
var webBounds = connlimit.Bounds{Connections: 512, Untrusted: 64, Time: time.Minute, Bytes: 256 << 10}

// lastWords is the time that streams get for their end.
const lastWords = 2 * time.Second

// serveWeb serves the page at an address, which it closes.
func (s *Share) serveWeb(ctx context.Context, at *address, subject Subject) error {
	machine, err := os.Hostname()
	if err != nil {
		machine = "localhost" // it is only shown, and allowed as a name
	}
	link := &dialled{subject: subject}
	o := page.Options{
		Connect: link.open, Gone: subject.Gone, Clock: clock.System{}, Port: at.port, Secure: at.public,
		Public: at.public, Names: []string{at.host, machine}, Admit: trust,
		Hello: page.Hello{Version: version.Build(), Environment: subject.Name, Mode: subject.Mode,
			Flags: subject.Flags, Missing: subject.Missing},
	}
	if subject.Film != nil {
		o.Film = film{subject.Film}
		o.Hello.Recorded = document.Moment(subject.Recorded)
	}
	server, err := page.New(o)
	if err != nil {
		return errors.Join(fmt.Errorf("serve the page: %w", err), at.Close())
	}
	shared := Address{Part: "web", Name: "Page", Local: !at.public}
	scheme, listener := "http", net.Listener(connlimit.New(at.Listener, webBounds))
	if at.public {
		certificate, fingerprint, err := newCertificate(time.Now(),
			[]string{at.reachable(machine), machine, "localhost"})
		if err != nil {
			return errors.Join(err, at.Close())
		}
		scheme = "https"
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate},
			MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}})
		shared.Notes = []string{
			"SHA-256 of its certificate, which browsers do not know: " + fingerprint,
			"warning: everyone who can reach this machine and has the address can watch, until this command ends",
		}
	}
	shared.Text = fmt.Sprintf("%s://%s/#token=%s", scheme, net.JoinHostPort(at.reachable(machine), at.port),
		server.Token())
	shared.Code = shared.Text
	s.web, s.shared = server, append(s.shared, shared)
	s.serving.Go(func() {
		defer link.close()
		serve(ctx, listener, server, &failures{dir: subject.Dir, say: s.sayOf})
	})
	return nil
}

// serve answers watchers until ctx ends.
func serve(ctx context.Context, listener net.Listener, server *page.Server, report io.Writer) {
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { server.Run(ctx) })
	web := &http.Server{
		Handler: server, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 16 << 10, ConnContext: withConnection,
		ErrorLog: log.New(report, "", 0),
	}
	running.Go(func() { _ = web.Serve(listener) }) // it ends with the server
	<-ctx.Done()
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer cancel()
	if web.Shutdown(grace) != nil {
		_ = web.Close() // some watcher does not take the last words
	}
}

// connectionKey is the key of a context with the connection of a request.
type connectionKey struct{}

func withConnection(ctx context.Context, conn net.Conn) context.Context {
	if secured, ok := conn.(*tls.Conn); ok {
		conn = secured.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, conn)
}

// trust lets the connection of a request with a session stay.
func trust(ctx context.Context) {
	if conn, ok := ctx.Value(connectionKey{}).(*connlimit.Conn); ok {
		conn.Trust()
	}
}

// dialled is the present connection of the page.
type dialled struct {
	subject Subject
	end     func()
}

// open replaces the connection. Only one goroutine calls it, and close after that.
func (d *dialled) open(ctx context.Context) (page.Deck, error) {
	d.close()
	deck, end, err := d.subject.Connect(ctx)
	if err != nil {
		return nil, err
	}
	d.end = end
	return deck, nil
}

func (d *dialled) close() {
	if d.end != nil {
		d.end()
		d.end = nil
	}
}

// film is a recorded session for the page.
type film struct{ *player.Player }

func (f film) Playback() page.Playback {
	at := f.Position()
	return page.Playback{AtSeconds: at.At.Seconds(), LengthSeconds: at.Length.Seconds(), Playing: at.Playing,
		Speed: at.Speed, Now: document.Moment(f.Now())}
}
