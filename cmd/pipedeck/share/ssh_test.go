// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// sshPatience bounds every wait.
const sshPatience = time.Minute

// serveTerminals serves an environment over SSH, whose directory is dir.
func serveTerminals(t *testing.T, dir, keys string) *Share {
	t.Helper()
	deck := decktest.Start(t)
	deck.Publish(decktest.Running()...)
	client := deck.Dial(t)
	f := &Flags{ssh: defaultAddress, keys: keys}
	s, err := f.Start(t.Context(), Subject{Name: "default", Dir: dir,
		Connect: func(context.Context) (deckv1.DeckServiceClient, func(), error) { return client, func() {}, nil }})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// seen is what a watcher's terminal got.
type seen struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (s *seen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all.Write(p)
}

func (s *seen) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(s.all.String(), text)
}

// watchOver logs in and waits for the UI.
func watchOver(t *testing.T, s *Share, login ssh.AuthMethod) *ssh.Client {
	t.Helper()
	return watchAs(t, s, login, "WAIT_APPROVAL")
}

// watchAs logs in and waits until the UI shows a text.
func watchAs(t *testing.T, s *Share, login ssh.AuthMethod, shown string) *ssh.Client {
	t.Helper()
	client, err := ssh.Dial("tcp", net.JoinHostPort("127.0.0.1", s.ssh.port), &ssh.ClientConfig{User: "ada",
		Auth: []ssh.AuthMethod{login}, Timeout: sshPatience,
		HostKeyCallback: func(_ string, _ net.Addr, key ssh.PublicKey) error {
			require.Equal(t, s.ssh.Fingerprint(), ssh.FingerprintSHA256(key))
			return nil
		}})
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	session, err := client.NewSession()
	require.NoError(t, err)
	screen := &seen{}
	session.Stdout = screen
	require.NoError(t, session.RequestPty("xterm-256color", 24, 80, ssh.TerminalModes{}))
	require.NoError(t, session.Shell())
	require.Eventually(t, func() bool { return screen.has(shown) }, sshPatience, 5*time.Millisecond)
	return client
}

func TestConnectionsThatSayNothingKeepNoOneOut(t *testing.T) {
	t.Parallel()
	s := serveTerminals(t, t.TempDir(), "")
	address := net.JoinHostPort("127.0.0.1", s.ssh.port)
	var silent []net.Conn
	for range 200 {
		conn, err := net.Dial("tcp", address)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		silent = append(silent, conn)
	}
	watchOver(t, s, ssh.Password(s.ssh.Password()))
	require.Equal(t, 1, s.Watching())
	// The first ones were closed to make room.
	require.NoError(t, silent[0].SetReadDeadline(time.Now().Add(sshPatience)))
	for {
		if _, err := silent[0].Read(make([]byte, 64)); err != nil { // after the version of the server
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
			break
		}
	}
}

func TestTheHostKeyStaysWithTheEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serveTerminals(t, dir, "")
	first := s.ssh.Fingerprint()
	watchOver(t, s, ssh.Password(s.ssh.Password()))
	s.Close()
	info, err := os.Stat(filepath.Join(dir, workspace.HostKeyFile))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())
	require.Equal(t, first, serveTerminals(t, dir, "").ssh.Fingerprint())

	other := serveTerminals(t, "", "")
	require.NotEqual(t, first, other.ssh.Fingerprint(), "a session that is played has a key for each run")

	require.NoError(t, os.WriteFile(filepath.Join(dir, workspace.HostKeyFile), []byte("half a"), 0o600))
	_, err = openHostKey(dir)
	require.ErrorContains(t, err, "read the host key "+filepath.Join(dir, workspace.HostKeyFile))
}

func TestListedKeysWatchWithoutThePassword(t *testing.T) {
	t.Parallel()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	key, err := ssh.NewPublicKey(public)
	require.NoError(t, err)
	signer, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "keys")
	line := string(ssh.MarshalAuthorizedKey(key))
	require.NoError(t, os.WriteFile(file, []byte("# the team\n\n"+line), 0o600))
	s := serveTerminals(t, "", file)
	password := s.ssh.Password()
	watchOver(t, s, ssh.PublicKeys(signer))
	require.Equal(t, password, s.ssh.Password(), "it was not needed")
	require.Contains(t, s.Addresses()[0].Notes[0], "or the listed key")

	for content, says := range map[string]string{
		"":                                 "has no key",
		"# none\n":                         "has no key",
		"ssh-ed25519 AAAA ada\n":           ":1: ",
		line + "from=\"10.*\" " + line:     ":2: the key has the option from=",
		strings.Repeat("#", maxKeysFile+1): "is larger than",
	} {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		_, err := (&Flags{keys: file}).authorized(t.Context())
		require.ErrorContains(t, err, says)
		var wrong *exit.Error
		require.ErrorAs(t, err, &wrong)
		require.NotEmpty(t, wrong.Hint)
	}
	_, err = (&Flags{keys: file}).Start(t.Context(), Subject{})
	require.ErrorContains(t, err, "is for --serve-ssh")
}

func TestWhoComesAndGoesIsReportedWithTheNextPassword(t *testing.T) {
	t.Parallel()
	s := serveTerminals(t, "", "")
	lines := make(chan string, 8)
	s.Report(func(part, line string) { lines <- part + ": " + line })
	client := watchOver(t, s, ssh.Password(s.ssh.Password()))
	require.Equal(t, "ssh: ada (127.0.0.1) watches over SSH", <-lines)
	require.Equal(t, "ssh: the next one-time password: "+s.ssh.Password(), <-lines)
	require.NoError(t, client.Close())
	require.Equal(t, "ssh: ada (127.0.0.1) watches no more", <-lines)
}

func TestThoseWhoWatchOverSSHCountForThePage(t *testing.T) {
	t.Parallel()
	s := started(t, "--serve-web", "--serve-ssh")
	lines := make(chan string, 8)
	s.Report(func(part, line string) { lines <- part + ": " + line })
	client := watchAs(t, s, ssh.Password(s.ssh.Password()), "shop")
	require.Equal(t, "ssh: ada (127.0.0.1) watches over SSH", <-lines)
	<-lines // the next password
	stream := opened(t, s.Addresses()[0].Text, &http.Client{Transport: &http.Transport{}})
	require.Equal(t, "web: 2 people watch.", <-lines)
	require.NoError(t, stream.Body.Close())
	require.Equal(t, "web: 1 person watches.", <-lines)
	require.NoError(t, client.Close())
	require.Equal(t, "ssh: ada (127.0.0.1) watches no more", <-lines)
}

func TestTheNextPasswordIsReportedWhenTheLoginWasInVain(t *testing.T) {
	t.Parallel()
	s := serveTerminals(t, "", "")
	lines := make(chan string, 8)
	s.Report(func(part, line string) { lines <- part + ": " + line })
	client, err := ssh.Dial("tcp", net.JoinHostPort("127.0.0.1", s.ssh.port), &ssh.ClientConfig{User: "ada",
		Auth: []ssh.AuthMethod{ssh.Password(s.ssh.Password())}, Timeout: sshPatience,
		HostKeyCallback: func(string, net.Addr, ssh.PublicKey) error { return nil }})
	require.NoError(t, err)
	require.NoError(t, client.Close())
	require.Equal(t, "ssh: ada (127.0.0.1) has used the password, but did not open the UI", <-lines)
	require.Equal(t, "ssh: the next one-time password: "+s.ssh.Password(), <-lines)
}

func TestTheLineToWatchWithSaysWhoCan(t *testing.T) {
	t.Parallel()
	s := serveTerminals(t, "", "")
	a := s.Addresses()[0]
	require.Equal(t, "ssh -p "+s.ssh.port+" watch@127.0.0.1", a.Text)
	require.Equal(t, []string{"one-time password: " + s.ssh.Password(), "host key: " + s.ssh.Fingerprint()}, a.Notes)
	for _, note := range a.Notes {
		require.Contains(t, a.Detail(), note, "programs need them, too")
	}
	require.Contains(t, s.UI().Ways()[0].Notes[2], "need --serve-ssh=HOST:PORT")
	s.ssh.public = true
	require.NotContains(t, s.UI().Ways()[0].Notes[2], "need --serve-ssh=HOST:PORT")
	require.Contains(t, s.ssh.address().Notes[2], "warning: everyone who can reach this machine")
	ways := s.UI().Ways()
	require.Len(t, ways, 1)
	require.Equal(t, "ssh://watch@127.0.0.1:"+s.ssh.port, ways[0].Code)
}

func TestWatchersDoNotWaitForOutputThatIsStuck(t *testing.T) {
	t.Parallel()
	s := serveTerminals(t, "", "")
	stuck, free := make(chan string), make(chan struct{})
	s.Report(func(_, line string) {
		select {
		case stuck <- line:
		case <-free:
		}
	})
	t.Cleanup(func() { close(free) })
	for range 3 * maxNews { // more than wait
		s.say("ada watches over SSH")
	}
	require.Equal(t, "ada watches over SSH", <-stuck)
}

func TestAnAddressWithoutAValueIsRefused(t *testing.T) {
	t.Parallel()
	for _, flag := range []string{"serve-web", "serve-ssh"} {
		var f Flags
		cmd := &cobra.Command{Use: "up", RunE: func(*cobra.Command, []string) error { return nil }}
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		f.Bind(cmd)
		cmd.SetArgs([]string{"--" + flag + "="})
		require.ErrorContains(t, cmd.Execute(), "--"+flag+"= has no address")
	}
}
