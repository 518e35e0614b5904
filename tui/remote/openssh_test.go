// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bytes"
	"encoding/pem"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// openSSH is the client that people have.
type openSSH struct {
	t     *testing.T
	stage *stage
	// folder has its files and no others.
	folder string
}

func newOpenSSH(t *testing.T, s *stage) openSSH {
	t.Helper()
	_, err := exec.LookPath("ssh")
	require.NoError(t, err, "OpenSSH's client is needed: apt-get install openssh-client")
	o := openSSH{t, s, t.TempDir()}
	o.writes("known_hosts", knownhosts.Line([]string{s.address}, s.options.HostKey.PublicKey())+"\n")
	return o
}

func (o openSSH) writes(name, content string) (path string) {
	o.t.Helper()
	path = filepath.Join(o.folder, name)
	require.NoError(o.t, os.WriteFile(path, []byte(content), 0o700))
	require.NoError(o.t, os.Chmod(path, 0o700))
	return path
}

// command is ssh with these arguments, without anything of the user who runs the test.
func (o openSSH) command(arguments ...string) *exec.Cmd {
	o.t.Helper()
	_, port, err := net.SplitHostPort(o.stage.address)
	require.NoError(o.t, err)
	all := []string{"-F", "none", "-p", port, "-o", "StrictHostKeyChecking=yes", "-o", "UserKnownHostsFile=" +
		filepath.Join(o.folder, "known_hosts"), "-o", "IdentityAgent=none", "-o", "IdentitiesOnly=yes"}
	cmd := exec.CommandContext(o.t.Context(), "ssh", append(all, arguments...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + o.folder, "TERM=xterm-256color"}
	return cmd
}

// watch starts a command in a terminal.
func (o openSSH) watch(cmd *exec.Cmd, width, height int) (screen *screen, terminal *os.File) {
	o.t.Helper()
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: uint16(width), Rows: uint16(height)})
	require.NoError(o.t, err)
	screen = newScreen(o.t, width, height)
	read := make(chan struct{})
	go func() { defer close(read); screen.read(terminal) }()
	o.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-read
		_ = terminal.Close()
	})
	return screen, terminal
}

func TestOpenSSHWatchesWithAKey(t *testing.T) {
	t.Parallel()
	key := newPrivateKey(t)
	s := open(t, func(o *Options) { o.Keys = append(o.Keys, key.signer.PublicKey()) })
	o := newOpenSSH(t, s)
	block, err := ssh.MarshalPrivateKey(key.private, "")
	require.NoError(t, err)
	file := o.writes("id", string(pem.EncodeToMemory(block)))
	require.NoError(t, os.Chmod(file, 0o600))

	cmd := o.command("-i", file, "watch@127.0.0.1")
	screen, terminal := o.watch(cmd, 80, 24)
	screen.seesText("WAIT_APPROVAL", "hello-world")
	screen.resize(120, 40)
	require.NoError(t, pty.Setsize(terminal, &pty.Winsize{Cols: 120, Rows: 40}))
	screen.seesText("1 Applications", "WAIT_APPROVAL")
	_, err = terminal.WriteString("q")
	require.NoError(t, err)
	require.NoError(t, cmd.Wait(), "it ends in order")
	s.awaitWatchers(t, 0)

	for _, c := range []struct {
		says      string
		arguments []string
	}{
		{noTerminal, []string{"-i", file, "-T", "watch@127.0.0.1"}},
		{noCommands, []string{"-i", file, "watch@127.0.0.1", "id"}},
		{noCommands, []string{"-i", file, "-s", "watch@127.0.0.1", "sftp"}},
	} {
		cmd, said := o.command(c.arguments...), bytes.Buffer{}
		cmd.Stdout, cmd.Stderr = &said, &said
		require.Error(t, cmd.Run())
		require.Equal(t, 1, cmd.ProcessState.ExitCode(), said.String())
		require.Contains(t, said.String(), c.says)
	}
	cmd = o.command("-i", file, "-o", "ExitOnForwardFailure=yes", "-R", "0:127.0.0.1:1", "watch@127.0.0.1")
	said, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(said), "remote port forwarding failed")
}

func TestOpenSSHWatchesWithThePasswordAndReadsTheEnd(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	o := newOpenSSH(t, s)
	asked := o.writes("askpass", "#!/bin/sh\necho "+s.Password()+"\n")
	log := func() *exec.Cmd {
		cmd := o.command("-o", "NumberOfPasswordPrompts=1", "watch@127.0.0.1")
		cmd.Env = append(cmd.Env, "SSH_ASKPASS="+asked, "SSH_ASKPASS_REQUIRE=force")
		return cmd
	}
	cmd := log()
	screen, _ := o.watch(cmd, 100, 30)
	screen.seesText("WAIT_APPROVAL")

	again := log()
	second, _ := o.watch(again, 100, 30)
	second.seesText("Permission denied")
	require.Error(t, again.Wait(), "the password is used up")

	s.stop()
	screen.seesText("pipedeck: no one shares the environment any more")
	require.NoError(t, cmd.Wait())
}
