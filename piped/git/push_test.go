// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// bareOf makes a bare repository that the user's is pushed to, as on a server.
func bareOf(t *testing.T, u *userRepo) string {
	t.Helper()
	bare := filepath.Join(t.TempDir(), "bare.git")
	u.git("clone", "-q", "--bare", u.dir, bare)
	u.git("remote", "add", "origin", bare)
	return bare
}

func draft(t *testing.T, r *Repository, files map[string]string) *Draft {
	t.Helper()
	head, err := r.Update(t.Context())
	require.NoError(t, err)
	d, err := r.Draft(t.Context(), head.Hash)
	require.NoError(t, err)
	require.True(t, d.Empty())
	change := Change{
		Files: map[string][]byte{}, Message: "Change\n\nBy: test\n", Name: "piped", Email: "piped@localhost",
		At: time.Unix(1700000000, 0),
	}
	for name, content := range files {
		change.Files[name] = []byte(content)
	}
	require.NoError(t, d.Commit(t.Context(), change))
	return d
}

func TestACommitIsPushedToTheBranch(t *testing.T) {
	t.Parallel()
	for name, remoteOf := range map[string]func(*testing.T, *userRepo) (string, string){
		"bare repository": func(t *testing.T, u *userRepo) (
			string, string,
		) {
			bare := bareOf(t, u)
			return "file://" + bare, bare
		},
		"server": func(t *testing.T, u *userRepo) (string, string) {
			bare := bareOf(t, u)
			u.git("-C", bare, "config", "http.receivepack", "true")
			return serve(t, filepath.Dir(bare)) + "/bare.git", bare
		},
		"branch that is not checked out": func(t *testing.T, u *userRepo) (string, string) {
			u.git("checkout", "-q", "-b", "other")
			return u.dir, u.dir
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUserRepo(t)
			u.write("app/a.yaml", "one")
			u.write("app/deep/run.sh", "#!/bin/sh")
			u.write("z", "untouched")
			require.NoError(t, os.Chmod(filepath.Join(u.dir, "app/deep/run.sh"), 0o755))
			u.commit("First")
			u.write("app/a.yaml", "two")
			base := u.commit("Second")
			remote, dir := remoteOf(t, u)
			r, err := Open(
				t.Context(),
				Options{
					ID: "apps", Remote: remote, Branch: "main", Dir: t.TempDir(), Username: "ada", Password: "secret",
				},
			)
			require.NoError(t, err)

			d := draft(t, r, map[string]string{"app/a.yaml": "three", "app/deep/run.sh": "#!/bin/bash"})
			require.NoError(
				t,
				d.Commit(
					t.Context(),
					Change{
						Files: map[string][]byte{"z": []byte("last")}, Message: "Another", Name: "piped", Email: "p@l",
						At: time.Unix(1700000001, 0),
					},
				),
			)
			content, err := d.ReadFile(t.Context(), "app/a.yaml")
			require.NoError(t, err)
			require.Equal(t, "three", string(content))
			require.NoError(t, d.Push(t.Context()))
			require.NoError(t, d.Push(t.Context()), "pushing what is there is no mistake")
			<-r.Changed()

			u.dir = dir
			require.Equal(t, d.Head(), u.git("rev-parse", "main"))
			require.Equal(t, base, u.git("rev-parse", "main~2"))
			require.Equal(t, "Another\nChange", u.git("log", "-2", "--format=%s", "main"))
			require.Equal(
				t, "piped <piped@localhost> test 1700000000",
				u.git("log", "-1", "--format=%an <%ae> %(trailers:key=By,valueonly,separator=%x20) %at", "main~1"),
			)
			require.Equal(t, "app/a.yaml\napp/deep/run.sh\nz", u.git("diff", "--name-only", "main~2", "main"))
			require.Contains(t, u.git("ls-tree", "main", "app/deep/run.sh"), "100755", "modes stay")
			u.git("fsck", "--strict")
			head, err := r.Update(t.Context())
			require.NoError(t, err)
			require.Equal(t, d.Head(), head.Hash)
		})
	}
}

func TestAPushNeverLosesACommitOfOthers(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	u.commit("First")
	bare := bareOf(t, u)
	r := open(t, bare)
	d := draft(t, r, map[string]string{"a": "ours"})
	u.write("b", "theirs")
	theirs := u.commit("Theirs")
	u.git("push", "-q", "origin", "main")

	require.ErrorIs(t, d.Push(t.Context()), ErrMoved)
	require.Equal(t, theirs, u.git("-C", bare, "rev-parse", "main"))
	d = draft(t, r, map[string]string{"a": "ours"})
	require.NoError(t, d.Push(t.Context()))
	require.Equal(t, theirs, u.git("-C", bare, "rev-parse", "main~1"))
}

func TestANewBranchIsPushedOnce(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	base := u.commit("First")
	r := open(t, u.dir)
	d := draft(t, r, map[string]string{"a": "2"})
	require.NoError(t, d.PushNew(t.Context(), "event-1"))
	require.Equal(t, d.Head(), u.git("rev-parse", "event-1"))
	require.Equal(t, base, u.git("rev-parse", "main"))
	require.ErrorIs(t, draft(t, r, map[string]string{"a": "3"}).PushNew(t.Context(), "event-1"), ErrMoved)
	require.ErrorIs(t, d.PushNew(t.Context(), "a..b"), ErrNoBranch)
}

func TestABranchInUseIsLeftAloneWithAdvice(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	base := u.commit("First")
	r := open(t, u.dir)
	err := draft(t, r, map[string]string{"a": "2"}).Push(t.Context())
	require.ErrorIs(t, err, ErrCheckedOut)
	require.ErrorContains(t, err, "receive.denyCurrentBranch updateInstead")
	require.Equal(t, base, u.git("rev-parse", "main"))

	u.git("config", "receive.denyCurrentBranch", "updateInstead")
	u.write("a", "not committed")
	err = draft(t, r, map[string]string{"a": "2"}).Push(t.Context())
	require.ErrorIs(t, err, ErrCheckedOut)
	require.ErrorContains(t, err, "commit or stash")
	u.git("checkout", "-q", "a")
	require.NoError(t, draft(t, r, map[string]string{"a": "2"}).Push(t.Context()))
	content, err := os.ReadFile(filepath.Join(u.dir, "a"))
	require.NoError(t, err)
	require.Equal(t, "2", string(content), "the working tree follows")
}

func TestRefusedPushesAreTyped(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	u.commit("First")
	bare := bareOf(t, u)
	require.NoError(t, os.MkdirAll(filepath.Join(bare, "hooks"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(bare, "hooks", "pre-receive"), []byte("#!/bin/sh\nexit 1\n"), 0o755))
	require.ErrorIs(t, draft(t, open(t, bare), map[string]string{"a": "2"}).Push(t.Context()), ErrRefused)

	r, err := Open(
		t.Context(),
		Options{
			ID: "apps", Remote: serve(t, filepath.Dir(bare)) + "/bare.git", Branch: "main", Dir: t.TempDir(),
			Username: "ada", Password: "secret",
		},
	)
	require.NoError(t, err)
	d := draft(t, r, map[string]string{"a": "2"})
	r.remote.password = "wrong"
	require.ErrorIs(t, d.Push(t.Context()), ErrAuth)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, d.Push(ended), context.Canceled)
}

func TestTheMirrorStaysUsableDuringAPush(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	base := u.commit("First")
	bare := bareOf(t, u)
	started, goOn := filepath.Join(t.TempDir(), "started"), filepath.Join(t.TempDir(), "go-on")
	require.NoError(t, os.MkdirAll(filepath.Join(bare, "hooks"), 0o755))
	for _, pipe := range []string{started, goOn} {
		require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	}
	hook := fmt.Sprintf("#!/bin/sh\necho >%q\nread line <%q\n", started, goOn)
	require.NoError(t, os.WriteFile(filepath.Join(bare, "hooks", "post-update"), []byte(hook), 0o755))
	r := open(t, bare)
	d := draft(t, r, map[string]string{"a": "2"})
	done := make(chan error, 1)
	go func() { done <- d.Push(t.Context()) }()
	_, err := os.ReadFile(started)
	require.NoError(t, err)

	content, err := r.ReadFile(t.Context(), base, "a")
	require.NoError(t, err)
	require.Equal(t, "1", string(content))
	require.NoError(t, os.WriteFile(goOn, []byte("\n"), 0o600))
	require.NoError(t, <-done)
}

func TestADraftChangesOnlyRegularFilesThatExist(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("dir/a", "1")
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(u.dir, "link")))
	head := u.commit("First")
	r := open(t, u.dir)
	_, err := r.Update(t.Context())
	require.NoError(t, err)
	d, err := r.Draft(t.Context(), head)
	require.NoError(t, err)
	commit := func(name string) error {
		return d.Commit(t.Context(), Change{Files: map[string][]byte{name: nil}})
	}
	require.ErrorIs(t, commit("none"), fs.ErrNotExist)
	require.ErrorIs(t, commit("dir/none"), fs.ErrNotExist)
	require.ErrorIs(t, commit("../dir/a"), fs.ErrNotExist)
	require.ErrorContains(t, commit("link"), "not a regular file")
	require.ErrorContains(t, commit("dir"), "not a regular file")
	require.ErrorContains(t, commit("dir/a/b"), "not a regular file")
	require.True(t, d.Empty())
}
