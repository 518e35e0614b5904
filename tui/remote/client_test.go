// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// stage is a server with an environment to watch.
type stage struct {
	*Server
	deck    *decktest.Server
	address string
	// key may log in.
	key ssh.Signer
	// stop ends the server and waits for it.
	stop func()

	mu   sync.Mutex
	news []string
}

// privateKey is a key with what signs with it.
type privateKey struct {
	private ed25519.PrivateKey
	signer  ssh.Signer
}

func newPrivateKey(t *testing.T) privateKey {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	signer, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	return privateKey{private, signer}
}

func newKey(t *testing.T) ssh.Signer {
	t.Helper()
	return newPrivateKey(t).signer
}

// open starts a server; change may change its options.
func open(t *testing.T, change func(*Options)) *stage {
	t.Helper()
	s := &stage{deck: decktest.Start(t), key: newKey(t)}
	s.deck.Publish(decktest.Running()...)
	client := s.deck.Dial(t)
	options := Options{
		HostKey: newKey(t), Keys: []ssh.PublicKey{s.key.PublicKey()}, Name: "default", Version: "v0.1.0",
		Connect: func(context.Context) (deckv1.DeckServiceClient, func(), error) { return client, func() {}, nil },
		News: func(line string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.news = append(s.news, line)
		},
	}
	if change != nil {
		change(&options)
	}
	s.Server = New(options)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.address = listener.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); s.Run(ctx, listener) }()
	s.stop = func() {
		t.Helper()
		cancel()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Fatal("the server does not end")
		}
	}
	t.Cleanup(s.stop)
	return s
}

func (s *stage) said() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.news...)
}

// awaitWatchers waits until so many watch.
func (s *stage) awaitWatchers(t *testing.T, want int) {
	t.Helper()
	deadline := time.After(patience)
	for {
		count, changed := s.Watching()
		if count == want {
			return
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("%d watch, not %d", count, want)
		}
	}
}

// connect logs in.
func (s *stage) connect(t *testing.T, methods ...ssh.AuthMethod) (*ssh.Client, error) {
	t.Helper()
	client, err := ssh.Dial("tcp", s.address, &ssh.ClientConfig{
		User: "ada", Auth: methods, HostKeyCallback: ssh.FixedHostKey(s.options.HostKey.PublicKey()),
		Timeout: patience})
	if err == nil {
		t.Cleanup(func() { _ = client.Close() })
	}
	return client, err
}

// loggedIn is a client with the listed key.
func (s *stage) loggedIn(t *testing.T) *ssh.Client {
	t.Helper()
	client, err := s.connect(t, ssh.PublicKeys(s.key))
	require.NoError(t, err)
	return client
}

// watcher is a client with the UI on its screen.
type watcher struct {
	*screen
	client  *ssh.Client
	session *ssh.Session
	keys    io.WriteCloser
	// left gets the error of the end.
	left chan error
}

// watch opens the UI.
func (s *stage) watch(t *testing.T, width, height int, environ ...string) *watcher {
	t.Helper()
	return s.watchOn(t, s.loggedIn(t), width, height, environ...)
}

// watchOn is watch over a connection.
func (s *stage) watchOn(t *testing.T, client *ssh.Client, width, height int, environ ...string) *watcher {
	t.Helper()
	w := &watcher{screen: newScreen(t, width, height), client: client, left: make(chan error, 1)}
	var err error
	w.session, err = w.client.NewSession()
	require.NoError(t, err)
	for i := 0; i < len(environ); i += 2 {
		require.NoError(t, w.session.Setenv(environ[i], environ[i+1]))
	}
	require.NoError(t, w.session.RequestPty("xterm-256color", height, width, ssh.TerminalModes{}))
	w.keys, err = w.session.StdinPipe()
	require.NoError(t, err)
	w.session.Stdout, w.session.Stderr = w.screen, w.screen
	require.NoError(t, w.session.Shell())
	go func() { w.left <- w.session.Wait() }()
	return w
}

func (w *watcher) types(keys string) {
	w.t.Helper()
	_, err := io.WriteString(w.keys, keys)
	require.NoError(w.t, err)
}

// leaves waits for the end of the session, which has to be one in order.
func (w *watcher) leaves() {
	w.t.Helper()
	select {
	case err := <-w.left:
		require.NoError(w.t, err)
	case <-time.After(patience):
		w.t.Fatal("the session does not end")
	}
}
