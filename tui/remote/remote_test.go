// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestEachWatcherHasASeparateUI(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	small := s.watch(t, 80, 24)
	large := s.watch(t, 160, 50, "PIPEDECK_THEME", "light")
	small.seesText("WAIT_APPROVAL", "default")
	large.seesText("WAIT_APPROVAL", "default", "1 Applications")
	s.awaitWatchers(t, 2)

	large.types("?") // the other one sees no help
	large.seesText("find and run an action")
	small.types("e")
	small.seesText("Control plane")
	require.NotContains(t, small.current(), "find and run an action")

	small.resize(120, 40)
	require.NoError(t, small.session.WindowChange(40, 120))
	small.seesText("1 Applications", "Control plane")

	small.types("q")
	small.leaves()
	s.awaitWatchers(t, 1)
	require.Contains(t, s.said(), "ada (127.0.0.1) watches over SSH")
	require.Contains(t, s.said(), "ada (127.0.0.1) watches no more")
}

func TestTheOneTimePasswordLetsOneWatcherIn(t *testing.T) {
	t.Parallel()
	s := open(t, func(o *Options) { o.Keys = nil })
	given := s.Password()
	_, err := s.connect(t, ssh.Password(strings.ToUpper(strings.ReplaceAll(given, "-", " "))))
	require.NoError(t, err, "case and separators do not matter")
	require.NotEqual(t, given, s.Password())
	_, err = s.connect(t, ssh.Password(given))
	require.ErrorContains(t, err, "unable to authenticate")
	_, err = s.connect(t, ssh.Password(s.Password()))
	require.NoError(t, err, "the next one is right, after a wrong one, too")
}

func TestAPasswordThatWasUsedInVainIsNews(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	in, err := s.connect(t, ssh.Password(s.Password()))
	require.NoError(t, err)
	session, err := in.NewSession()
	require.NoError(t, err)
	require.Error(t, session.Run("id"))
	const news = "ada (127.0.0.1) has used the password, but did not open the UI"
	require.Eventually(t, func() bool { return slices.Equal(s.said(), []string{news}) }, patience, time.Millisecond)

	in, err = s.connect(t, ssh.Password(s.Password()))
	require.NoError(t, err)
	require.NoError(t, in.Close(), "without a session")
	twice := []string{news, news}
	require.Eventually(t, func() bool { return slices.Equal(s.said(), twice) }, patience, time.Millisecond)

	require.NoError(t, s.loggedIn(t).Close())
	s.stop()
	require.Equal(t, twice, s.said(), "a key stays valid")
}

func TestUnknownKeysAndWrongPasswordsAreRefused(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	_, err := s.connect(t, ssh.PublicKeys(newKey(t)))
	require.ErrorContains(t, err, "unable to authenticate")
	tried := 0
	_, err = s.connect(t, ssh.RetryableAuthMethod(ssh.PasswordCallback(func() (string, error) {
		tried++
		return "wrong", nil
	}), 50))
	require.Error(t, err)
	require.LessOrEqual(t, tried, maxPasswords+1)
	require.GreaterOrEqual(t, tried, maxPasswords)
	require.Equal(t, firstPause<<(maxPasswords-1), s.guesses.pause("127.0.0.1"), "the next one waits longer")
	_, err = s.connect(t)
	require.Error(t, err, "no method at all")
}

func TestOnlyTheUIIsServed(t *testing.T) {
	t.Parallel()
	s := open(t, nil)

	run := func(t *testing.T, begin func(*ssh.Session) error, says string) {
		t.Helper()
		session, err := s.loggedIn(t).NewSession()
		require.NoError(t, err)
		var said bytes.Buffer
		session.Stdout, session.Stderr = io.Discard, &said
		if err = begin(session); err == nil {
			err = session.Wait()
		}
		var exit *ssh.ExitError
		require.True(t, errors.As(err, &exit), "%v", err)
		require.Equal(t, 1, exit.ExitStatus())
		require.Contains(t, said.String(), says)
	}
	run(t, func(session *ssh.Session) error { return session.Start("cat /etc/passwd") }, noCommands)
	run(t, func(session *ssh.Session) error { return session.Shell() }, noTerminal)

	client := s.loggedIn(t)
	_, err := client.Dial("tcp", s.address)
	require.ErrorContains(t, err, noForwarding)
	_, err = client.Listen("tcp", "127.0.0.1:0")
	require.Error(t, err)
	session, err := client.NewSession()
	require.NoError(t, err)
	require.Error(t, session.Setenv("LD_PRELOAD", "x"))
	require.Error(t, session.Setenv("PIPEDECK_THEME", "/etc/passwd"), "a theme by its file")
	require.NoError(t, session.Setenv("COLORTERM", "truecolor"))
	for _, kind := range []string{"x11-req", "auth-agent-req@openssh.com", "signal", "break"} {
		ok, err := session.SendRequest(kind, true, nil)
		require.NoError(t, err)
		require.False(t, ok, kind)
	}
	_, err = client.NewSession()
	require.ErrorContains(t, err, "one session")
	require.NoError(t, session.RequestSubsystem("sftp"), "the reason is on standard error")
	count, _ := s.Watching()
	require.Zero(t, count)
}

// A client that keeps its connection after the end of its session does not keep its place.
func TestAConnectionEndsWithItsSession(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	client := s.loggedIn(t)
	channel, requests, err := client.OpenChannel("session", nil)
	require.NoError(t, err)
	ok, err := channel.SendRequest("exec", true, ssh.Marshal(struct{ Command string }{"id"}))
	require.NoError(t, err)
	require.True(t, ok)
	for range requests { // until the server has closed the session; this side does not
	}
	closed := make(chan error, 1)
	go func() { closed <- client.Wait() }()
	select {
	case err := <-closed:
		require.Error(t, err)
	case <-time.After(patience):
		t.Fatal("the connection is still open")
	}
}

func TestAtMostFiftyWatch(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	const more = 10
	all := make([]*watcher, MaxUIs+more)
	for i := range all {
		all[i] = s.watch(t, 72, 20)
	}
	refused := 0
	for _, w := range all {
		w.sees("the UI or a refusal", func(screen string) bool {
			full := strings.Contains(screen, "50 people watch already")
			if full {
				refused++
			}
			return full || strings.Contains(screen, "WAIT_APPROVAL")
		})
	}
	require.Equal(t, more, refused)
	s.awaitWatchers(t, MaxUIs)
	for _, w := range all {
		_ = w.client.Close() // without a word; the refused ones are closed
	}
	s.awaitWatchers(t, 0)
}

func TestAWatcherWhoDoesNotAnswerIsHungUpOn(t *testing.T) {
	t.Parallel()
	s := open(t, func(o *Options) { o.KeepAlive = time.Second })
	tcp, err := net.Dial("tcp", s.address)
	require.NoError(t, err)
	frozen := &freezing{Conn: tcp, thawed: make(chan struct{})}
	close(frozen.thawed)
	conn, channels, requests, err := ssh.NewClientConn(frozen, s.address, &ssh.ClientConfig{User: "ada",
		Auth:            []ssh.AuthMethod{ssh.PublicKeys(s.key)},
		HostKeyCallback: ssh.FixedHostKey(s.options.HostKey.PublicKey())})
	require.NoError(t, err)
	w := s.watchOn(t, ssh.NewClient(conn, channels, requests), 80, 24)
	w.seesText("WAIT_APPROVAL")
	s.awaitWatchers(t, 1)
	thaw := frozen.freeze()
	s.awaitWatchers(t, 0)
	thaw()
}

// freezing is a connection that can stop reading.
type freezing struct {
	net.Conn
	mu     sync.Mutex
	thawed chan struct{}
}

func (f *freezing) freeze() (thaw func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	thawed := make(chan struct{})
	f.thawed = thawed
	return func() { close(thawed) }
}

func (f *freezing) Read(p []byte) (int, error) {
	n, err := f.Conn.Read(p)
	f.mu.Lock()
	thawed := f.thawed
	f.mu.Unlock()
	<-thawed
	return n, err
}

func TestWatchersReadWhyItEnds(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	w := s.watch(t, 80, 24)
	w.seesText("WAIT_APPROVAL")
	s.deck.End()
	w.seesText("pipedeck: the environment has ended")
	w.leaves()

	s = open(t, nil)
	w = s.watch(t, 80, 24)
	w.seesText("WAIT_APPROVAL")
	idle := s.loggedIn(t) // without a session
	s.stop()
	w.seesText("pipedeck: " + sharingEnded)
	w.leaves()
	require.Error(t, idle.Wait())
}

func TestAWatcherWithoutKeysAndChangesIsSentAway(t *testing.T) {
	t.Parallel()
	clock := &handClock{now: time.Unix(0, 0)}
	s := open(t, func(o *Options) { o.Clock = clock })
	w := s.watch(t, 80, 24)
	w.seesText("WAIT_APPROVAL")
	clock.advance(t, DefaultIdle-30*time.Second)
	w.seesText("this connection ends in 1 min; press any key")
	w.types("e")
	w.seesText("Control plane")
	w.types("2")
	w.seesText("WAIT_APPROVAL")
	clock.advance(t, DefaultIdle-2*time.Minute)
	s.deck.Publish(decktest.Failed())
	w.seesText("FAILURE")
	clock.advance(t, DefaultIdle-2*time.Minute)
	count, _ := s.Watching()
	require.Equal(t, 1, count, "a key and a change count")
	clock.advance(t, 2*time.Minute)
	w.seesText("closed after 30 min without a key")
	w.leaves()
}

// handClock goes on when the test says so.
type handClock struct {
	mu    sync.Mutex
	now   time.Time
	waits []handWait
}

type handWait struct {
	at   time.Time
	done chan time.Time
}

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *handClock) After(d time.Duration) <-chan time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := handWait{c.now.Add(d), make(chan time.Time, 1)}
	c.waits = append(c.waits, w)
	return w.done
}

// advance goes on once the two that wait do: for idleness and for a sign of life.
func (c *handClock) advance(t *testing.T, d time.Duration) {
	t.Helper()
	require.Eventually(t, func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return len(c.waits) == 2
	}, patience, time.Millisecond)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	c.waits = slices.DeleteFunc(c.waits, func(w handWait) bool {
		if w.at.After(c.now) {
			return false
		}
		w.done <- c.now
		return true
	})
}

func TestAWatcherWithoutAKeyboardStillWatches(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	w := s.watch(t, 80, 24)
	w.seesText("WAIT_APPROVAL")
	require.NoError(t, w.keys.Close())
	renamed := decktest.Application()
	renamed.Name = "payments"
	s.deck.Publish(renamed)
	w.seesText("payments")
}
