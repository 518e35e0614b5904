// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// serveDaemon runs Git's daemon for each connection, and returns the address.
func serveDaemon(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() {
				defer conn.Close()
				file, err := conn.(*net.TCPConn).File()
				if err != nil {
					return
				}
				defer file.Close()
				cmd := exec.Command("git", "daemon", "--inetd", "--export-all", "--enable=receive-pack")
				cmd.Env = append(
					os.Environ(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
				)
				cmd.Stdin, cmd.Stdout = file, file
				_ = cmd.Run() // its answer shows the client the failure
			})
		}
	})
	t.Cleanup(func() { listener.Close(); conns.Wait() })
	return listener.Addr().String()
}

func TestGitsDaemonIsFetchedFromAndPushedTo(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	first := u.commit("First")
	bare := bareOf(t, u)
	daemon := serveDaemon(t)
	open := func(path string) *Repository {
		r, err := Open(
			t.Context(), Options{ID: "apps", Remote: "git://" + daemon + path, Branch: "main", Dir: t.TempDir()},
		)
		require.NoError(t, err)
		return r
	}
	r := open(bare)
	head, err := r.Update(t.Context())
	require.NoError(t, err)
	require.Equal(t, first, head.Hash)
	d := draft(t, r, map[string]string{"a": "2"})
	require.NoError(t, d.Push(t.Context()))
	require.Equal(t, d.Head(), u.git("-C", bare, "rev-parse", "main"))
	head, err = r.Update(t.Context())
	require.NoError(t, err)
	require.Equal(t, d.Head(), head.Hash)

	_, err = open("/none").Update(t.Context())
	require.ErrorIs(t, err, ErrNotRepository)
	_, err = open(newUserRepo(t).dir).Update(t.Context())
	require.ErrorIs(t, err, ErrNoCommits)
}
