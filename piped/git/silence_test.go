// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/porttest"
)

// stall passes what a server says on, until it has said so much; then it is silent for as long as the client stays.
// It returns the address and what is closed once it is silent.
func stall(t *testing.T, server string, after int64) (address string, silent <-chan struct{}) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	reached := make(chan struct{})
	var once sync.Once
	var conns sync.WaitGroup
	handle := func(client net.Conn) {
		defer client.Close()
		behind, err := net.Dial("tcp", server)
		if err != nil {
			return
		}
		defer behind.Close()
		conns.Go(func() { // what the server says
			defer behind.Close()
			buffer := make([]byte, 1024)
			for left := after; left > 0; {
				n, err := behind.Read(buffer[:min(left, int64(len(buffer)))])
				if err != nil {
					client.Close()
					return
				}
				_, _ = client.Write(buffer[:n])
				left -= int64(n)
			}
			once.Do(func() { close(reached) })
			for {
				if _, err := behind.Read(buffer); err != nil {
					return
				}
			}
		})
		buffer := make([]byte, 1024)
		for { // what the client says
			n, err := client.Read(buffer)
			if err != nil {
				return
			}
			_, _ = behind.Write(buffer[:n])
		}
	}
	conns.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { handle(client) })
		}
	})
	t.Cleanup(func() { listener.Close(); conns.Wait() })
	return listener.Addr().String(), reached
}

func TestASilentServerIsGivenUp(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	noise := make([]byte, 500_000) // more than the server says
	_, _ = rand.Read(noise)
	u.write("noise", string(noise))
	u.commit("First")
	web := serve(t, u.dir)
	webAddress := strings.TrimPrefix(web, "http://")
	secure := httptest.NewTLSServer(backend(t, u.dir))
	t.Cleanup(secure.Close)
	shell := serveSSH(t)
	daemon := serveDaemon(t)
	for name, c := range map[string]struct {
		server string
		after  int64
		remote func(address string) string
	}{
		"ssh before the handshake": {shell.address, 0, func(a string) string { return "ssh://git@" + a + u.dir }},
		"ssh within the handshake": {shell.address, 100, func(a string) string { return "ssh://git@" + a + u.dir }},
		"http before the answer":   {webAddress, 0, func(a string) string { return "http://" + a + "/.git" }},
		"http within a pack":       {webAddress, 300_000, func(a string) string { return "http://" + a + "/.git" }},
		"https before the handshake": {
			secure.Listener.Addr().String(), 0, func(a string) string { return "https://" + a + "/.git" },
		},
		"git before the answer": {daemon, 0, func(a string) string { return "git://" + a + u.dir }},
		"git within a pack":     {daemon, 300_000, func(a string) string { return "git://" + a + u.dir }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, _ := stall(t, c.server, c.after)
			options := shell.options(t, c.remote(address))
			options.Username, options.Password, options.Idle = "ada", "secret", 300*time.Millisecond
			r, err := Open(t.Context(), options)
			require.NoError(t, err)
			_, err = r.Update(t.Context())
			require.ErrorIs(t, err, ErrSilent, "%v", err)
			require.ErrorContains(t, err, "nothing came for 300ms")
			unfinished, err := filepath.Glob(filepath.Join(r.mirror.packDir(), "*"))
			require.NoError(t, err)
			require.Empty(t, unfinished)
		})
	}
}

func TestAStalledTransferBySSHIsGivenUp(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	noise := make([]byte, 500_000) // more than the server says
	_, _ = rand.Read(noise)
	u.write("noise", string(noise))
	u.commit("First")
	shell := serveSSH(t)
	address, _ := stall(t, shell.address, 300_000)
	options := shell.options(t, "ssh://git@"+address+u.dir)
	options.KnownHosts, options.Idle = shell.alsoAt(t, address), 300*time.Millisecond
	r, err := Open(t.Context(), options)
	require.NoError(t, err)
	_, err = r.Update(t.Context())
	require.ErrorIs(t, err, ErrSilent, "%v", err)

	// A caller that gives up waits no longer.
	address, silent := stall(t, shell.address, 300_000)
	options = shell.options(t, "ssh://git@"+address+u.dir)
	options.KnownHosts = shell.alsoAt(t, address)
	r, err = Open(t.Context(), options)
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	go func() { <-silent; stop() }()
	_, err = r.Update(ctx)
	require.ErrorIs(t, err, context.Canceled)
}

func TestAServerThatAnswersNothingAfterTheLoginIsSilent(t *testing.T) {
	t.Parallel()
	shell := serveSSHBy(t, muteSSH)
	options := shell.options(t, "ssh://git@"+shell.address+"/apps")
	options.Idle = 300 * time.Millisecond
	r, err := Open(t.Context(), options)
	require.NoError(t, err)
	_, err = r.Update(t.Context())
	require.ErrorIs(t, err, ErrSilent, "%v", err)
}

func TestTheMirrorStaysUsableWhileAPackComes(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	first := u.commit("First")
	shell := serveSSH(t)
	r, err := Open(t.Context(), shell.options(t, "ssh://git@"+shell.address+u.dir))
	require.NoError(t, err)
	_, err = r.Update(t.Context())
	require.NoError(t, err)
	noise := make([]byte, 500_000) // more than the server says
	_, _ = rand.Read(noise)
	u.write("noise", string(noise))
	second := u.commit("Second")

	address, silent := stall(t, shell.address, 300_000)
	r.remote.ssh.known.configured = shell.alsoAt(t, address)
	r.remote.address.Port = address[strings.LastIndex(address, ":")+1:]
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := r.Update(ctx)
		ended <- err
	}()
	<-silent
	_, err = r.Checkout(t.Context(), first, filepath.Join(t.TempDir(), "checkout"))
	require.NoError(t, err)
	_, err = r.ChangedFiles(t.Context(), "", first)
	require.NoError(t, err)
	d, err := r.Draft(t.Context(), first)
	require.NoError(t, err)
	require.NoError(
		t,
		d.Commit(
			t.Context(), Change{Files: map[string][]byte{"a": []byte("2")}, Message: "Draft", At: time.Unix(1, 0)},
		),
	)
	select {
	case err := <-ended:
		t.Fatalf("the download has ended: %v", err)
	default:
	}
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)

	r.remote.address.Port = shell.port
	r.remote.ssh.known.configured = []string{shell.knownHosts}
	head, err := r.Update(t.Context())
	require.NoError(t, err)
	require.Equal(t, second, head.Hash)
}

func TestFewAskOneHostAtATimeAndOtherHostsDoNotWait(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	u.commit("First")
	git := backend(t, u.dir)
	var now, most atomic.Int32
	open, all := make(chan struct{}), make(chan struct{}, 100)
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count := now.Add(1)
		defer now.Add(-1)
		for before := most.Load(); count > before && !most.CompareAndSwap(before, count); before = most.Load() {
		}
		all <- struct{}{}
		<-open
		git.ServeHTTP(w, r)
	}))
	t.Cleanup(slow.Close)
	hosts := &Hosts{}
	repository := func(remote string) *Repository {
		r, err := Open(
			t.Context(),
			Options{
				ID: "apps", Remote: remote, Branch: "main", Dir: t.TempDir(), Username: "ada", Password: "secret",
				Hosts: hosts,
			},
		)
		require.NoError(t, err)
		return r
	}
	ended := make(chan error, 50)
	for range 50 {
		r := repository(slow.URL + "/.git")
		go func() {
			_, err := r.Update(t.Context())
			ended <- err
		}()
	}
	for range maxPerHost {
		<-all
	}
	other := repository(strings.Replace(serve(t, u.dir), "127.0.0.1", "localhost", 1) + "/.git")
	_, err := other.Update(t.Context())
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err = repository(slow.URL + "/.git").Update(ctx)
	require.ErrorIs(t, err, context.Canceled)
	close(open)
	for range 50 {
		require.NoError(t, <-ended)
	}
	require.EqualValues(t, maxPerHost, most.Load())
	require.Empty(t, hosts.places)
}

func TestWhoWaitsForTheMirrorTakesNoPlaceAtTheHost(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	head := u.commit("First")
	git := backend(t, u.dir)
	asked := make(chan struct{}, 100)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		git.ServeHTTP(w, r)
		asked <- struct{}{}
	}))
	t.Cleanup(server.Close)
	hosts := &Hosts{}
	repository := func() *Repository {
		r, err := Open(
			t.Context(),
			Options{
				ID: "apps", Remote: server.URL + "/.git", Branch: "main", Dir: t.TempDir(), Username: "ada",
				Password: "secret", Hosts: hosts,
			},
		)
		require.NoError(t, err)
		return r
	}
	r := repository()
	require.NoError(t, r.mirror.writing.take(t.Context()))
	ended := make(chan error, maxPerHost)
	for range maxPerHost {
		go func() {
			_, err := r.Update(t.Context())
			ended <- err
		}()
	}
	for range maxPerHost {
		<-asked
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	_, err := repository().Update(ctx)
	require.NoError(t, err, "another repository of the host")
	r.mirror.writing.release()
	for range maxPerHost {
		require.NoError(t, <-ended)
	}
	require.True(t, r.mirror.has(plumbing.NewHash(head)))
}

func TestAServerThatIsAwayDoesNotMakeEverythingChanged(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	first := u.commit("First")
	u.write("a", "2")
	second := u.commit("Second")
	shell := serveSSH(t)
	r, err := Open(t.Context(), shell.options(t, "ssh://git@"+shell.address+u.dir))
	require.NoError(t, err)
	_, err = r.Update(t.Context())
	require.NoError(t, err)
	present := r.remote.address.Port
	r.remote.address.Port = strconv.Itoa(porttest.Free(t))
	_, err = r.ChangedFiles(t.Context(), first, second)
	require.Error(t, err)
	require.NotErrorIs(t, err, ErrNoCommit)

	r.remote.address.Port = present
	changed, err := r.ChangedFiles(t.Context(), first, second)
	require.NoError(t, err)
	require.Equal(t, []string{"a"}, changed)
}
