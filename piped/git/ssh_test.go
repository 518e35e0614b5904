// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// sshServer runs Git's own programs for user "git" with one key.
type sshServer struct {
	address    string
	port       string
	key        []byte // the client's, in PEM
	knownHosts string
	// line is what known_hosts needs.
	line, fingerprint string
}

func newKey(t *testing.T) (ssh.Signer, []byte) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	signer, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKey(private, "")
	require.NoError(t, err)
	return signer, pem.EncodeToMemory(block)
}

func lockedKey(t *testing.T) []byte {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	block, err := ssh.MarshalPrivateKeyWithPassphrase(private, "", []byte("secret"))
	require.NoError(t, err)
	return pem.EncodeToMemory(block)
}

func serveSSH(t *testing.T) *sshServer {
	t.Helper()
	return serveSSHBy(t, handleSSH)
}

// muteSSH lets users in and answers nothing after that.
func muteSSH(conn net.Conn, settings *ssh.ServerConfig) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, settings)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests) // ends with the connection
	for range channels {
		continue // neither accepted nor refused
	}
}

func serveSSHBy(t *testing.T, handle func(net.Conn, *ssh.ServerConfig)) *sshServer {
	t.Helper()
	host, _ := newKey(t)
	user, private := newKey(t)
	settings := &ssh.ServerConfig{PublicKeyCallback: func(c ssh.ConnMetadata, key ssh.PublicKey) (
		*ssh.Permissions, error,
	) {
		if c.User() != "git" || string(key.Marshal()) != string(user.PublicKey().Marshal()) {
			return nil, errors.New("who are you")
		}
		return nil, nil
	}}
	settings.AddHostKey(host)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { handle(conn, settings) })
		}
	})
	t.Cleanup(func() { listener.Close(); conns.Wait() })
	s := &sshServer{
		address: listener.Addr().String(), key: private, knownHosts: filepath.Join(t.TempDir(), "known_hosts"),
	}
	_, s.port, _ = net.SplitHostPort(s.address)
	s.line, s.fingerprint = knownhosts.Line(
		[]string{s.address}, host.PublicKey(),
	), ssh.FingerprintSHA256(host.PublicKey())
	require.NoError(t, os.WriteFile(s.knownHosts, []byte(s.line+"\n"), 0o600))
	return s
}

func handleSSH(conn net.Conn, settings *ssh.ServerConfig) {
	defer conn.Close()
	_, channels, requests, err := ssh.NewServerConn(conn, settings)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests) // ends with the connection
	for offered := range channels {
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		for request := range requests {
			if request.Type != "exec" {
				_ = request.Reply(false, nil)
				continue
			}
			var command struct{ Line string }
			_ = ssh.Unmarshal(request.Payload, &command)
			_ = request.Reply(true, nil)
			status := runGit(command.Line, channel)
			_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{status}))
			channel.Close()
		}
	}
}

func runGit(line string, channel ssh.Channel) uint32 {
	program, path, _ := strings.Cut(line, " ")
	if program != "git-upload-pack" && program != "git-receive-pack" {
		return 127
	}
	cmd := exec.Command("git", strings.TrimPrefix(program, "git-"), strings.Trim(path, "'"))
	cmd.Stdout, cmd.Stderr = channel, channel.Stderr()
	in, err := cmd.StdinPipe()
	if err != nil || cmd.Start() != nil {
		return 1
	}
	go func() {
		_, _ = io.Copy(in, channel) // ends with the channel
		in.Close()
	}()
	if cmd.Wait() != nil {
		return 128
	}
	return 0
}

func (s *sshServer) options(t *testing.T, remote string) Options {
	return Options{
		ID: "apps", Remote: remote, Branch: "main", Dir: t.TempDir(), SSHKey: s.key, KnownHosts: []string{s.knownHosts},
	}
}

// alsoAt are known hosts that know the server at another address.
func (s *sshServer) alsoAt(t *testing.T, address string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "known_hosts")
	line := strings.Replace(s.line, knownhosts.Normalize(s.address), knownhosts.Normalize(address), 1)
	require.NoError(t, os.WriteFile(file, []byte(line+"\n"), 0o600))
	return []string{file}
}

func TestABranchIsFetchedAndPushedBySSH(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	first := u.commit("First")
	bare := bareOf(t, u)
	server := serveSSH(t)
	config := filepath.Join(t.TempDir(), "config")
	require.NoError(
		t,
		os.WriteFile(
			config,
			[]byte(fmt.Sprintf("Host apps.internal\n  HostName 127.0.0.1\n  Port %s\n  User git\n", server.port)),
			0o600,
		),
	)
	for name, change := range map[string]func(*Options){
		"URL":                func(o *Options) {},
		"URL without a user": func(o *Options) { o.Remote = "ssh://" + server.address + bare },
		"form of scp":        func(o *Options) { o.Remote = "git@127.0.0.1:" + server.port + ":" + bare },
		"alias of git.host": func(o *Options) {
			o.Remote = "ssh://git@github.com:" + server.port + bare
			o.SSHHost, o.SSHHostName = "github.com", "127.0.0.1"
		},
		"alias of an ssh config":       func(o *Options) { o.Remote, o.SSHConfigFile = "apps.internal:"+bare, config },
		"ssh config that is not there": func(o *Options) { o.SSHConfigFile = config + ".none" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := server.options(t, "ssh://git@"+server.address+bare)
			change(&options)
			r, err := Open(t.Context(), options)
			require.NoError(t, err)
			head, err := r.Update(t.Context())
			require.NoError(t, err)
			require.Equal(t, first, head.Hash)
			d := draft(t, r, map[string]string{"a": name})
			require.NoError(t, d.PushNew(t.Context(), strings.ReplaceAll(name, " ", "-")))
			require.Equal(t, d.Head(), u.git("-C", bare, "rev-parse", strings.ReplaceAll(name, " ", "-")))
		})
	}
}

func TestProblemsWithSSHAreReportedWithTheNextStep(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	u.commit("First")
	server, other := serveSSH(t), serveSSH(t)
	lies, err := os.ReadFile(other.knownHosts)
	require.NoError(t, err)
	wrong := filepath.Join(t.TempDir(), "wrong")
	require.NoError(t, os.WriteFile(wrong, []byte(strings.ReplaceAll(string(lies), other.port, server.port)), 0o600))
	_, stranger := newKey(t)
	locked := lockedKey(t)
	for name, c := range map[string]struct {
		change func(*Options)
		want   error
		hint   string
	}{
		"an unknown server": {
			func(o *Options) { o.KnownHosts = []string{other.knownHosts} }, ErrHostKey,
			"then add to " + other.knownHosts + " the line: " + server.line,
		},
		"a server with another key": {
			func(o *Options) { o.KnownHosts = []string{wrong} }, ErrHostKey,
			"ssh-keygen -R '[127.0.0.1]:" + server.port + "'",
		},
		"no file of known hosts": {
			func(o *Options) { o.KnownHosts = []string{wrong + ".none"} }, ErrHostKey, "its key " + server.fingerprint,
		},
		"a file of known hosts that is none": {
			func(o *Options) { o.KnownHosts = []string{u.dir} }, ErrHostKey, "cannot be read",
		},
		"a key that the server refuses": {func(o *Options) { o.SSHKey = stranger }, ErrAuth, "git.sshKeyFile"},
		"a key with a passphrase": {
			func(o *Options) { o.SSHKey = locked }, ErrAuth, "encrypted with a passphrase",
		},
		"a key that is none": {
			func(o *Options) { o.SSHKey = []byte("hello") }, ErrAuth, "unencrypted private key in PEM",
		},
		"a repository that is not there": {
			func(o *Options) { o.Remote += "/none" }, ErrNotRepository, "check the remote",
		},
		"a branch that is not there": {func(o *Options) { o.Branch = "other" }, ErrNoBranch, "there is main"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := server.options(t, "ssh://git@"+server.address+u.dir)
			c.change(&options)
			r, err := Open(t.Context(), options)
			require.NoError(t, err)
			_, err = r.Update(t.Context())
			require.ErrorIs(t, err, c.want, "%v", err)
			require.ErrorContains(t, err, c.hint)
		})
	}
}
