// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/gittest"
)

// userRepo is a repository made with the git program, as a user's is.
type userRepo struct {
	t   testing.TB
	dir string
}

func newUserRepo(t testing.TB) *userRepo {
	t.Helper()
	return &userRepo{t: t, dir: gittest.Init(t)}
}

func (u *userRepo) git(args ...string) string {
	u.t.Helper()
	return gittest.Run(u.t, u.dir, args...)
}

func (u *userRepo) write(name, content string) {
	u.t.Helper()
	gittest.Write(u.t, u.dir, name, content)
}

func (u *userRepo) commit(message string) string {
	u.t.Helper()
	return gittest.Commit(u.t, u.dir, message)
}

func open(t testing.TB, remote string) *Repository {
	t.Helper()
	r, err := Open(
		t.Context(), Options{ID: "apps", Remote: remote, Branch: "main", Dir: filepath.Join(t.TempDir(), "mirror")},
	)
	require.NoError(t, err)
	return r
}

func TestHeadOfALocalRepositoryIsMirrored(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("app/app.pipecd.yaml", "hello")
	u.write("docs/a.md", "doc")
	first := u.commit("Add the app\n\nA longer text.\n\nPipecd-Dev-Trace-Trigger-Commit-Hash: abc\n")
	r := open(t, "file://"+u.dir)

	head, err := r.Update(t.Context())
	require.NoError(t, err)
	require.Equal(t, first, head.Hash)
	require.Equal(t, "Add the app", head.Subject)
	require.Equal(t, "abc", head.Trailer("pipecd-dev-trace-trigger-commit-hash"))
	require.Equal(t, "Ada", head.Author)
	require.WithinDuration(t, time.Now(), head.CreatedAt, time.Minute)

	content, err := r.ReadFile(t.Context(), first, "app/app.pipecd.yaml")
	require.NoError(t, err)
	require.Equal(t, "hello", string(content))
	_, err = r.ReadFile(t.Context(), first, "app/none")
	require.ErrorIs(t, err, fs.ErrNotExist)
	found, err := r.FindFiles(t.Context(), first, func(path string) bool { return strings.HasSuffix(path, ".md") })
	require.NoError(t, err)
	require.Equal(t, []string{"docs/a.md"}, found)

	u.git("mv", "docs/a.md", "docs/b.md")
	u.write("app/new", "x")
	second := u.commit("Rename")
	changed, err := r.ChangedFiles(t.Context(), first, second)
	require.NoError(t, err)
	require.Equal(t, []string{"app/new", "docs/a.md", "docs/b.md"}, changed)
	all, err := r.ChangedFiles(t.Context(), strings.Repeat("1", 40), second)
	require.NoError(t, err, "a commit that is gone means that everything changed")
	require.Equal(t, []string{"app/app.pipecd.yaml", "app/new", "docs/b.md"}, all)
}

func TestCommitsSurviveForcePushAndGarbageCollection(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	for i := range packFrom + 50 {
		u.write(fmt.Sprintf("many/%d", i), fmt.Sprint(i))
	}
	first := u.commit("First")
	r := open(t, u.dir)
	_, err := r.Update(t.Context())
	require.NoError(t, err)

	u.write("many/1", "changed")
	u.git("commit", "-q", "-a", "--amend", "-m", "Rewritten")
	u.git("reflog", "expire", "--expire=now", "--all")
	u.git("gc", "-q", "--prune=now")

	head, err := r.Update(t.Context())
	require.NoError(t, err, "objects moved into packs by gc must be found")
	require.NotEqual(t, first, head.Hash)
	dir := filepath.Join(t.TempDir(), "checkout")
	_, err = r.Checkout(t.Context(), first, dir)
	require.NoError(t, err)
	content, err := os.ReadFile(filepath.Join(dir, "many/1"))
	require.NoError(t, err)
	require.Equal(t, "1", string(content))

	again, err := Open(t.Context(), r.options)
	require.NoError(t, err)
	_, err = again.Commit(t.Context(), first)
	require.NoError(t, err, "also after a restart")
	require.Equal(t, "", (&userRepo{t: t, dir: r.options.Dir}).git("fsck", "--no-dangling", head.Hash+"^{tree}"))
}

func TestProblemsOfTheRepositoryAreTyped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(u *userRepo)
		want    error
	}{
		"no repository": {
			func(u *userRepo) { require.NoError(u.t, os.RemoveAll(filepath.Join(u.dir, ".git"))) }, ErrNotRepository,
		},
		"no directory": {func(u *userRepo) { require.NoError(u.t, os.RemoveAll(u.dir)) }, ErrNoDirectory},
		"a broken .git file": {func(u *userRepo) {
			require.NoError(u.t, os.RemoveAll(filepath.Join(u.dir, ".git")))
			u.write(".git", "gitdir: /nowhere\n")
		}, ErrNotRepository},
		"no commits":     {func(*userRepo) {}, ErrNoCommits},
		"another branch": {func(u *userRepo) { u.commit("x"); u.git("branch", "-m", "trunk") }, ErrNoBranch},
		"reftable": {func(u *userRepo) {
			u.git("config", "core.repositoryformatversion", "1")
			u.git("config", "extensions.refStorage", "reftable")
		}, ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUserRepo(t)
			c.prepare(u)
			_, err := open(t, u.dir).Update(t.Context())
			require.ErrorIs(t, err, c.want)
			var problem *RepositoryError
			require.ErrorAs(t, err, &problem)
			require.NotEmpty(t, problem.Hint)
		})
	}
	_, err := Open(t.Context(), Options{ID: "x", Remote: t.TempDir(), Branch: "a..b", Dir: t.TempDir()})
	require.ErrorIs(t, err, ErrNoBranch)
}

func TestMovesOfTheBranchAreReported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ prepare, move func(u *userRepo) }{
		"a commit":         {func(u *userRepo) { u.commit("a") }, func(u *userRepo) { u.commit("b") }},
		"the first commit": {func(*userRepo) {}, func(u *userRepo) { u.commit("b") }},
		"a force push": {
			func(u *userRepo) { u.commit("a"); u.commit("b") },
			func(u *userRepo) { u.git("reset", "-q", "--hard", "HEAD~1") },
		},
		"a commit after gc": {
			func(u *userRepo) { u.commit("a"); u.git("gc", "-q") }, func(u *userRepo) { u.commit("b") },
		},
		"a packed reference": {
			func(u *userRepo) { u.commit("a") }, func(u *userRepo) { u.commit("b"); u.git("pack-refs", "--all") },
		},
		"a branch deleted and made again": {func(u *userRepo) {
			u.commit("a")
			u.git(
				"checkout", "-q", "--detach",
			)
		}, func(u *userRepo) {
			u.git("branch", "-D", "main")
			u.commit("b")
			u.git("branch", "main")
		}},
		"a repository created again": {func(u *userRepo) {
			u.commit("a")
			require.NoError(
				u.t, os.RemoveAll(filepath.Join(u.dir, ".git")),
			)
		}, func(u *userRepo) {
			u.git("init", "-q", "-b", "main")
			u.commit("b")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := newUserRepo(t)
			c.prepare(u)
			r := open(t, u.dir)
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- r.Run(ctx) }()
			defer func() { stop(); require.NoError(t, <-done) }()

			<-r.Changed() // At the start.
			c.move(u)
			want := u.git("rev-parse", "refs/heads/main")
			deadline := time.After(time.Minute)
			for {
				if head, err := r.Update(t.Context()); err == nil && head.Hash == want {
					return
				}
				select {
				case <-r.Changed():
				case <-deadline:
					t.Fatal("the move was not reported")
				}
			}
		})
	}
}

func TestLinkedWorktreesAndBareRepositoriesWork(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	want := u.commit("a")
	linked := filepath.Join(t.TempDir(), "linked")
	u.git("worktree", "add", "-q", "--detach", linked)
	bare := filepath.Join(t.TempDir(), "bare.git")
	u.git("clone", "-q", "--bare", u.dir, bare)
	shared := filepath.Join(t.TempDir(), "shared")
	u.git("clone", "-q", "--shared", u.dir, shared)
	for _, remote := range []string{linked, bare, shared, "file://" + bare} {
		head, err := open(t, remote).Update(t.Context())
		require.NoError(t, err, remote)
		require.Equal(t, want, head.Hash)
	}
}

func TestCheckoutKeepsModesAndLinksAndNeverLeavesTheDirectory(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("bin/run", "#!/bin/sh\n")
	require.NoError(t, os.Chmod(filepath.Join(u.dir, "bin/run"), 0o755))
	for name, target := range map[string]string{
		"inside": "bin/run", "absolute": "/etc/passwd", "outside": "../x", "a/b/up": "../..", "byway": "a/b/up/../x",
		"dangling": "none",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(u.dir, name)), 0o755))
		require.NoError(t, os.Symlink(target, filepath.Join(u.dir, name)))
	}
	pointer := lfsPointer + "oid sha256:" + strings.Repeat("a", 64) + "\nsize 12345\n"
	u.write("bin/model", pointer)
	u.write("bin/text", lfsPointer+strings.Repeat("a text about pointers\n", 100))
	u.write("bin/empty", "")
	u.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",module")
	u.git("add", "--", "bin", "inside", "absolute", "outside", "a", "byway", "dangling")
	u.git("commit", "-q", "-m", "links")
	r := open(t, u.dir)
	dir := filepath.Join(t.TempDir(), "checkout")
	left, err := r.Checkout(t.Context(), u.git("rev-parse", "HEAD"), dir)
	require.NoError(t, err)

	var names []string
	for _, one := range left {
		names = append(names, one.Path)
	}
	require.ElementsMatch(t, []string{"absolute", "outside", "byway", "module", "bin/model"}, names)
	content, err := os.ReadFile(filepath.Join(dir, "bin/model"))
	require.NoError(t, err)
	require.Equal(t, pointer, string(content))
	text, err := os.ReadFile(filepath.Join(dir, "bin/text"))
	require.NoError(t, err)
	require.Len(t, text, len(lfsPointer)+2200)
	info, err := os.Stat(filepath.Join(dir, "bin/run"))
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o755), info.Mode().Perm()|0o055)
	target, err := os.Readlink(filepath.Join(dir, "inside"))
	require.NoError(t, err)
	require.Equal(t, "bin/run", target)
	_, err = os.Lstat(filepath.Join(dir, "dangling"))
	require.NoError(t, err)
}

func BenchmarkCommitIsSeenAndMirrored(b *testing.B) {
	u := newUserRepo(b)
	for i := range 100 {
		u.write(fmt.Sprintf("app%d/app.pipecd.yaml", i), fmt.Sprint(i))
	}
	u.commit("a")
	r := open(b, u.dir)
	ctx, stop := context.WithCancel(b.Context())
	done := make(chan error, 1)
	go func() { done <- r.Run(ctx) }()
	defer func() { stop(); <-done }()
	<-r.Changed()
	_, err := r.Update(ctx)
	require.NoError(b, err)
	b.ResetTimer()
	for i := range b.N {
		b.StopTimer()
		u.write("app1/file", fmt.Sprint(i))
		u.git("add", "-A")
		tree := u.git("write-tree")
		hash := u.git("commit-tree", tree, "-p", "HEAD", "-m", "x")
		u.git("update-ref", "refs/heads/tmp", hash)
		b.StartTimer()
		require.NoError(b, os.WriteFile(filepath.Join(u.dir, ".git/refs/heads/main"), []byte(hash+"\n"), 0o644))
		for {
			<-r.Changed()
			if head, err := r.Update(ctx); err == nil && head.Hash == hash {
				break
			}
		}
	}
}

func TestTheHeadIsTheLastOneKnownWhileTheRepositoryIsAway(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1")
	u.commit("one")
	r := open(t, u.dir)
	_, err := r.Head(t.Context())
	require.NoError(t, err)
	u.write("a", "2")
	two := u.commit("two")
	head, err := r.Head(t.Context())
	require.NoError(t, err)
	require.Equal(t, two, head.Hash)
	require.NoError(t, os.Rename(u.dir, u.dir+"-away"))
	_, err = r.Update(t.Context())
	require.Error(t, err)
	head, err = r.Head(t.Context())
	require.NoError(t, err)
	require.Equal(t, two, head.Hash)
}
