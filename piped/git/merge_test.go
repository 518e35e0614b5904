// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// branches makes a repository in which the branch feature has left main; each side changes files in turn.
func branches(t *testing.T, base, main, feature map[string]string) (u *userRepo, mainHash, featureHash string) {
	t.Helper()
	u = newUserRepo(t)
	apply := func(files map[string]string, message string) string {
		for name, content := range files {
			if content == "" {
				u.git("rm", "-q", name)
			}
		}
		for name, content := range files {
			if content != "" {
				u.write(name, content)
			}
		}
		return u.commit(message)
	}
	u.write("README", "hello\n")
	apply(base, "base")
	u.git("checkout", "-q", "-b", "feature")
	featureHash = apply(feature, "feature")
	u.git("checkout", "-q", "main")
	mainHash = apply(main, "main")
	return u, mainHash, featureHash
}

func lines(list ...string) string { return strings.Join(list, "\n") + "\n" }

func TestABranchIsMergedAsGitDoes(t *testing.T) {
	t.Parallel()
	base := map[string]string{
		"app/a": lines("1", "2", "3", "4", "5"), "app/b": "b\n", "c": "c\n", "old/name": lines("x", "y", "z"),
	}
	for name, c := range map[string]struct{ main, feature map[string]string }{
		"different files": {map[string]string{"c": "C\n"}, map[string]string{"app/b": "B\n"}},
		"different parts of a file": {
			map[string]string{"app/a": lines("one", "2", "3", "4", "5")},
			map[string]string{"app/a": lines("1", "2", "3", "4", "five")},
		},
		"the same change on both sides": {
			map[string]string{"app/b": "same\n", "c": "1\n"}, map[string]string{"app/b": "same\n"},
		},
		"a file and its directory gone": {map[string]string{"c": "C\n"}, map[string]string{"old/name": ""}},
		"a new directory":               {map[string]string{"c": "C\n"}, map[string]string{"deep/er/still": "new\n"}},
		"a directory becomes a file": {
			map[string]string{"c": "C\n"}, map[string]string{"old/name": "", "old": "file\n"},
		},
		"a file becomes a directory": {
			map[string]string{"app/b": "B\n"}, map[string]string{"c": "", "c/d": "new\n"},
		},
		"a file that main has renamed": {
			map[string]string{"old/name": "", "new/name": lines("x", "y", "z")},
			map[string]string{"old/name": lines("x", "y", "Z")},
		},
		"a file that feature renamed": {
			map[string]string{"old/name": lines("X", "y", "z")},
			map[string]string{"old/name": "", "new/name": lines("x", "y", "z")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, main, feature := branches(t, base, c.main, c.feature)
			r := open(t, u.dir)
			head, err := r.Update(t.Context())
			require.NoError(t, err)
			require.Equal(t, main, head.Hash)

			merged, err := r.Merge(t.Context(), main, feature, "feature")
			require.NoError(t, err)
			u.git("merge", "-q", "-m", "merge", "feature")
			want := u.git("ls-tree", "-r", "HEAD")
			require.Equal(t, want, listing(t, r, merged.Hash))
			again, err := r.Merge(t.Context(), main, feature, "feature")
			require.NoError(t, err)
			require.Equal(t, merged.Hash, again.Hash, "the same merge is the same commit")
			require.Equal(t, main, head.Hash)
		})
	}
}

// listing is what git ls-tree -r prints, made by git from a checkout of the commit.
func listing(t *testing.T, r *Repository, hash string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "checkout")
	_, err := r.Checkout(t.Context(), hash, dir)
	require.NoError(t, err)
	copied := &userRepo{t: t, dir: dir}
	copied.git("init", "-q", "-b", "main")
	copied.git("add", "--all")
	copied.commit("copy")
	return copied.git("ls-tree", "-r", "HEAD")
}

func TestConflictsAreFound(t *testing.T) {
	t.Parallel()
	base := map[string]string{"a": lines("1", "2", "3"), "b": "b\n", "bin": "x\x00y", "d/f": "f\n"}
	for name, c := range map[string]struct {
		main, feature map[string]string
		path, reason  string
	}{
		"the same line": {
			map[string]string{"a": lines("1", "A", "3")}, map[string]string{"a": lines("1", "B", "3")}, "a",
			"the same lines",
		},
		"lines next to each other": {
			map[string]string{"a": lines("A", "2", "3")}, map[string]string{"a": lines("1", "B", "3")}, "a",
			"next to each other",
		},
		"added at the same place": {
			map[string]string{"a": lines("1", "2", "3", "A")}, map[string]string{"a": lines("1", "2", "3", "B")}, "a",
			"the same lines",
		},
		"changed and removed": {map[string]string{"b": "B\n"}, map[string]string{"b": ""}, "b", "removed it"},
		"added differently":   {map[string]string{"n": "1\n"}, map[string]string{"n": "2\n"}, "n", "added it"},
		"binary": {
			map[string]string{"bin": "x\x00A"}, map[string]string{"bin": "x\x00B"}, "bin", "binary",
		},
		"a file and a directory": {map[string]string{"n": "1\n"}, map[string]string{"n/m": "2\n"}, "n", "directory"},
		"removed below a new file": {
			map[string]string{"d/f": "F\n"}, map[string]string{"d/f": "", "d": "file\n"}, "d", "directory",
		},
		"renamed and removed": {
			map[string]string{"d/f": "", "e": "f\n"}, map[string]string{"d/f": ""}, "e", "renamed",
		},
		"renamed in different ways": {
			map[string]string{"d/f": "", "e": "f\n"}, map[string]string{"d/f": "", "g": "f\n"}, "e", "renamed",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u, main, feature := branches(t, base, c.main, c.feature)
			r := open(t, u.dir)
			_, err := r.Merge(t.Context(), main, feature, "feature")
			var conflict *ConflictError
			require.ErrorAs(t, err, &conflict)
			require.Equal(t, c.path, conflict.Conflicts[0].Path)
			require.Contains(t, conflict.Conflicts[0].Reason, c.reason)
			require.False(t, gitMerges(u), "git merges it")
		})
	}
}

func gitMerges(u *userRepo) bool {
	cmd := exec.Command("git", "merge", "-q", "-m", "merge", "feature")
	cmd.Dir = u.dir
	cmd.Env = append(
		os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b",
	)
	return cmd.Run() == nil
}

func TestWhatNeedsNoMergeIsFound(t *testing.T) {
	t.Parallel()
	u := newUserRepo(t)
	u.write("a", "1\n")
	first := u.commit("first")
	u.write("a", "2\n")
	second := u.commit("second")
	r := open(t, u.dir)
	merged, err := r.Merge(t.Context(), second, first, "main")
	require.NoError(t, err)
	require.Equal(t, second, merged.Hash, "the base holds the head")
	merged, err = r.Merge(t.Context(), first, second, "main")
	require.NoError(t, err)
	require.Equal(t, second, merged.Hash, "the head holds the base")

	u.git("checkout", "-q", "--orphan", "other")
	orphan := u.commit("orphan")
	_, err = r.Merge(t.Context(), second, orphan, "other")
	require.ErrorIs(t, err, ErrNoHistory)
	_, err = r.Merge(t.Context(), second, strings.Repeat("1", 40), "other")
	require.ErrorIs(t, err, ErrNoCommit)
	_, err = r.Merge(t.Context(), second, "HEAD", "other")
	require.ErrorIs(t, err, ErrNoCommit)

	shallow := filepath.Join(t.TempDir(), "shallow")
	u.git("checkout", "-q", "main")
	u.git("clone", "-q", "--depth=1", "file://"+u.dir, shallow)
	copied := &userRepo{t: t, dir: shallow}
	copied.git("fetch", "-q", "--depth=1", "origin", "other")
	_, err = open(t, shallow).Merge(t.Context(), second, orphan, "other")
	require.ErrorIs(t, err, ErrNoHistory)
}

func TestABranchIsMergedInARepositoryThatBorrowsItsObjects(t *testing.T) {
	t.Parallel()
	u, main, feature := branches(
		t, map[string]string{"a": "1\n", "b": "1\n"}, map[string]string{"a": "2\n"}, map[string]string{"b": "2\n"},
	)
	borrower := filepath.Join(t.TempDir(), "borrower.git")
	u.git("clone", "-q", "--bare", "--shared", u.dir, borrower)
	merged, err := open(t, borrower).Merge(t.Context(), main, feature, "feature")
	require.NoError(t, err)
	require.NotEqual(t, main, merged.Hash)
	linked := filepath.Join(t.TempDir(), "linked")
	u.git("worktree", "add", "-q", linked, "feature")
	again, err := open(t, linked).Merge(t.Context(), main, feature, "feature")
	require.NoError(t, err)
	require.Equal(t, merged.Hash, again.Hash)
}

func TestABranchOfAServerIsMerged(t *testing.T) {
	t.Parallel()
	u, main, feature := branches(
		t, map[string]string{"a": lines("1", "2", "3")}, map[string]string{"a": lines("1", "2", "C")},
		map[string]string{"a": lines("A", "2", "3")},
	)
	bare := bareOf(t, u)
	r, err := Open(t.Context(), Options{
		ID: "apps", Remote: serve(t, filepath.Dir(bare)) + "/bare.git", Branch: "main",
		Dir:      filepath.Join(t.TempDir(), "mirror"),
		Username: "ada", Password: "secret",
	})
	require.NoError(t, err)
	_, err = r.Update(t.Context())
	require.NoError(t, err)
	merged, err := r.Merge(t.Context(), main, feature, "feature")
	require.NoError(t, err)
	content, err := r.ReadFile(t.Context(), merged.Hash, "a")
	require.NoError(t, err)
	require.Equal(t, lines("A", "2", "C"), string(content))

	u.git("checkout", "-q", "feature")
	u.write("b", "new\n")
	next := u.commit("next")
	u.git("push", "-q", "origin", "feature")
	merged, err = r.Merge(t.Context(), main, next, "feature")
	require.NoError(t, err)
	_, err = r.ReadFile(t.Context(), merged.Hash, "b")
	require.NoError(t, err)
	_, err = r.Merge(t.Context(), main, strings.Repeat("2", 40), "gone")
	require.ErrorIs(t, err, ErrNoCommit)

	past := r.origin.(*fetcher).past
	require.NoError(t, past.using.take(t.Context())) // another caller fetches it, from a slow server
	ctx, stop := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer stop()
	_, err = r.Merge(ctx, main, next, "feature")
	require.ErrorIs(t, err, context.DeadlineExceeded)
	past.using.release()
}

// Random texts are merged as git merge-file does: what it calls a conflict is one here, and clean results are
// the same. The other way round a few conflicts more are allowed, since two programs may match lines differently.
func TestTextsAreMergedAsGitDoes(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	clean, stricter := 0, 0
	const tries = 100
	for range tries {
		base := make([]string, 4+random.IntN(12))
		for i := range base {
			base[i] = fmt.Sprint(random.IntN(30))
		}
		ours, theirs := mutate(random, base), mutate(random, base)
		texts := []string{lines(ours...), lines(base...), lines(theirs...)}
		args := []string{"merge-file", "-p", "-q"}
		for i, text := range texts {
			file := filepath.Join(dir, fmt.Sprint(i))
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			args = append(args, file)
		}
		out, err := exec.Command("git", args...).Output()
		var exit *exec.ExitError
		require.True(t, err == nil || errors.As(err, &exit), "%v", err)
		got, ok := mergeText(texts[1], texts[0], texts[2])
		switch {
		case err == nil && ok:
			require.Equal(t, string(out), got, "%q", texts)
			clean++
		case err == nil:
			stricter++
		default:
			require.False(t, ok, "git finds a conflict in %q, and this is %q", texts, got)
		}
	}
	require.Greater(t, clean, tries/10)
	require.Less(t, stricter, tries/20)
}

// A side that has changed nothing takes the other as it is, whatever the texts are.
func FuzzMergeText(f *testing.F) {
	f.Add("a\nb\n", "a\nc\n", "x\na\nb\n")
	f.Add("", "no line end", "\n\n")
	f.Add("a\na\na\n", "a\na\n", "a\na\na\na\n")
	f.Fuzz(func(t *testing.T, base, ours, theirs string) {
		for _, side := range []string{ours, theirs} {
			for _, pair := range [][2]string{{side, base}, {base, side}, {side, side}} {
				if merged, clean := mergeText(base, pair[0], pair[1]); !clean || merged != side {
					t.Fatalf("%q becomes %q", side, merged)
				}
			}
		}
		one, cleanOne := mergeText(base, ours, theirs)
		other, cleanOther := mergeText(base, theirs, ours)
		if cleanOne != cleanOther || one != other {
			t.Fatalf("it matters which side is which: %q, %q", one, other)
		}
	})
}

func mutate(random *rand.Rand, base []string) []string {
	var out []string
	at := random.IntN(len(base))
	for i, line := range base {
		if i != at {
			out = append(out, line)
			continue
		}
		switch random.IntN(3) {
		case 0:
			out = append(out, fmt.Sprint("changed", random.IntN(3)))
		case 1:
			out = append(out, line, fmt.Sprint("added", random.IntN(3)))
		}
	}
	return out
}
