// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/system/clock"
	"github.com/pipedeck/pipedeck/tui/app"
)

// Options are what a Server needs.
type Options struct {
	// HostKey is how the server proves who it is.
	HostKey ssh.Signer
	// Keys may log in, besides the one-time password.
	Keys []ssh.PublicKey
	// Connect returns a client for one UI, which the UI closes. It may block. An error that wraps
	// app.ErrEnvironmentGone ends the UI.
	Connect func(ctx context.Context) (client deckv1.DeckServiceClient, end func(), err error)
	// Name of what is watched and version of the program, for the header.
	Name, Version string
	// Playback is that of a recorded session; nil for an environment. Watchers do not move it.
	Playback app.Playback
	// News gets a line when someone comes or goes; nil for no one. It must not block.
	News func(line string)
	// Clock is that of waits; nil is the system's.
	Clock clock.Clock
	// Idle is the time without a key and without an event of a deployment after which a UI ends; 0 is DefaultIdle.
	Idle time.Duration
	// KeepAlive is how often a watcher must show that it is there; 0 is the default.
	KeepAlive time.Duration
}

const (
	// DefaultIdle is Options.Idle.
	DefaultIdle = 30 * time.Minute
	// MaxUIs bounds the UIs that are open at once.
	MaxUIs = 50
	// defaultKeepAlive is Options.KeepAlive.
	defaultKeepAlive = 15 * time.Second
	// helloTime bounds the exchange of keys; loginTime all until the login, which people type; startTime the way from
	// there to the UI.
	helloTime = 10 * time.Second
	loginTime = time.Minute
	startTime = 10 * time.Second
	// lastWords is the time that a watcher gets to read why the server ends.
	lastWords = 2 * time.Second
)

// Server shows the UI to watchers. Its methods may be called from any goroutine.
type Server struct {
	options  Options
	password *password
	guesses  *guesses
	watchers watchers
}

// New returns a server that Run starts.
func New(o Options) *Server {
	if o.Clock == nil {
		o.Clock = clock.System{}
	}
	if o.Idle == 0 {
		o.Idle = DefaultIdle
	}
	if o.KeepAlive == 0 {
		o.KeepAlive = defaultKeepAlive
	}
	if o.News == nil {
		o.News = func(string) {}
	}
	return &Server{options: o, password: newPassword(), guesses: newGuesses(o.Clock),
		watchers: watchers{changed: make(chan struct{})}}
}

// Password is the one that the next watcher without a key logs in with.
func (s *Server) Password() string { return s.password.current() }

// Fingerprint is that of the host key, as OpenSSH shows it.
func (s *Server) Fingerprint() string { return ssh.FingerprintSHA256(s.options.HostKey.PublicKey()) }

// Watching is how many watch at present. changed is closed when that changes.
func (s *Server) Watching() (count int, changed <-chan struct{}) { return s.watchers.watching() }

// Run serves watchers on a listener, which it closes, until ctx ends.
func (s *Server) Run(ctx context.Context, listener net.Listener) {
	var running sync.WaitGroup
	defer running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	running.Go(func() {
		<-ctx.Done()
		_ = listener.Close() // ends Accept
	})
	for {
		conn, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as no more files: those that are open go on
			if !clock.Sleep(ctx, acceptPause) {
				return
			}
			continue
		}
		running.Go(func() {
			(&connection{server: s, conn: conn, address: hostOf(conn)}).serve(ctx)
		})
	}
}

// acceptPause is the wait after an error of the listener.
const acceptPause = 100 * time.Millisecond

// hostOf is the address of a peer without its port.
func hostOf(conn net.Conn) string {
	host, _, err := net.SplitHostPort(conn.RemoteAddr().String())
	if err != nil {
		return conn.RemoteAddr().String()
	}
	return host
}

// watchers counts the open UIs.
type watchers struct {
	mu      sync.Mutex
	count   int
	changed chan struct{}
}

// enter takes a place; false when there is none.
func (w *watchers) enter() bool { return w.add(1) }

func (w *watchers) leave() { w.add(-1) }

func (w *watchers) add(n int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count+n > MaxUIs {
		return false
	}
	w.count += n
	close(w.changed)
	w.changed = make(chan struct{})
	return true
}

func (w *watchers) watching() (count int, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count, w.changed
}
