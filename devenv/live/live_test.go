// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/filewatch"
	"github.com/pipedeck/pipedeck/system/gittest"
)

// wait bounds waits for things that happen at once on an idle machine.
const wait = time.Minute

// world is a repository of a user and its Tree.
type world struct {
	t    *testing.T
	root string
	tree *Tree
}

func newWorld(t *testing.T, files ...string) *world {
	t.Helper()
	w := &world{t: t, root: filepath.Join(t.TempDir(), "user's repository")}
	require.NoError(t, os.MkdirAll(w.root, 0o755))
	w.git("init", "-q", "-b", "main")
	w.git("config", "user.name", "Ada")
	w.git("config", "user.email", "ada@example.com")
	for _, name := range files {
		w.write(name, name)
	}
	w.commit("First")
	w.open()
	return w
}

func (w *world) open() {
	w.t.Helper()
	var err error
	w.tree, err = Open(w.t.Context(), Options{Root: w.root, Branch: "main",
		Dir: filepath.Join(filepath.Dir(w.root), "live.git")})
	require.NoError(w.t, err)
}

func (w *world) git(args ...string) string {
	w.t.Helper()
	return w.gitIn(w.root, args...)
}

func (w *world) gitIn(dir string, args ...string) string {
	w.t.Helper()
	return gittest.Run(w.t, dir, args...)
}

func (w *world) write(name, content string) {
	w.t.Helper()
	gittest.Write(w.t, w.root, name, content)
}

func (w *world) commit(message string) string {
	w.t.Helper()
	return gittest.Commit(w.t, w.root, message)
}

func (w *world) take() Snapshot {
	w.t.Helper()
	s, err := w.tree.Take(w.t.Context())
	require.NoError(w.t, err)
	require.Equal(w.t, s.Commit, w.snapshots("rev-parse", "refs/heads/main"), "the branch is at the snapshot")
	return s
}

// snapshots runs git in the repository of the snapshots.
func (w *world) snapshots(args ...string) string {
	w.t.Helper()
	return w.gitIn(w.tree.Repository(), args...)
}

// files are what a commit of the snapshots holds.
func (w *world) files(commit string) []string {
	w.t.Helper()
	return strings.Fields(w.snapshots("ls-tree", "-r", "--name-only", commit))
}

// state is everything of the user's repository but the files.
func (w *world) state() map[string]string {
	w.t.Helper()
	found := map[string]string{}
	require.NoError(w.t, filepath.WalkDir(filepath.Join(w.root, ".git"),
		func(path string, entry os.DirEntry, err error) error {
			require.NoError(w.t, err)
			info, err := entry.Info()
			require.NoError(w.t, err)
			found[path] = fmt.Sprint(info.Mode(), info.Size(), info.ModTime())
			return nil
		}))
	return found
}

func TestTheUsersRepositoryIsNeverWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "b", "c", ".gitignore")
	w.write("a", "staged")
	w.git("add", "a")
	w.write("a", "saved")
	w.write("new", "new")
	require.NoError(t, os.Remove(filepath.Join(w.root, "b")))
	before, staged := w.state(), w.git("diff", "--cached")

	s := w.take()
	require.True(t, s.New)
	require.Equal(t, []string{"a", "b", "new"}, s.Uncommitted)
	require.Equal(t, before, w.state())
	require.Equal(t, staged, w.git("diff", "--cached"))
	require.Equal(t, "saved", w.snapshots("show", s.Commit+":a"), "not what is staged")
	w.git("fsck", "--strict")
	w.snapshots("fsck", "--strict")
}

func TestASnapshotIsTheWorkingTreeUponHead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "dir/b", "dir/c", "run.sh")
	head := w.git("rev-parse", "HEAD")
	s := w.take()
	require.Equal(t, head, s.Commit, "without changes it is the user's commit")
	require.Empty(t, s.Uncommitted)
	require.False(t, s.New, "an unchanged tree is nothing new")

	w.write(".gitignore", "*.log\n/build/\n")
	w.write("x.log", "ignored")
	w.write("build/out", "ignored")
	w.write("dir/deep/er/d", "d")
	w.write(".a.swp", "an editor's")
	w.write("a~", "an editor's")
	require.NoError(t, os.Rename(filepath.Join(w.root, "dir/b"), filepath.Join(w.root, "dir/moved")))
	require.NoError(t, os.Remove(filepath.Join(w.root, "dir/c")))
	require.NoError(t, os.Chmod(filepath.Join(w.root, "run.sh"), 0o755))
	require.NoError(t, os.Symlink("a", filepath.Join(w.root, "link")))
	s = w.take()
	require.True(t, s.New)
	require.Equal(t, []string{".gitignore", "a", "dir/deep/er/d", "dir/moved", "link", "run.sh"}, w.files(s.Commit))
	require.Equal(t, []string{".gitignore", "dir/b", "dir/c", "dir/deep/er/d", "dir/moved", "link", "run.sh"},
		s.Uncommitted)
	require.Equal(t, head, w.snapshots("rev-parse", s.Commit+"^"))
	require.Equal(t, "uncommitted changes in .gitignore, dir/b, dir/c and 4 more",
		w.snapshots("log", "-1", "--format=%s", s.Commit))
	require.Equal(t, "Ada <ada@example.com> pipedeck", w.snapshots("log", "-1", "--format=%an <%ae> %cn", s.Commit))
	require.Contains(t, w.snapshots("ls-tree", s.Commit, "run.sh"), "100755")
	require.Contains(t, w.snapshots("ls-tree", s.Commit, "link"), "120000")
	require.False(t, w.take().New)

	require.NoError(t, os.RemoveAll(filepath.Join(w.root, "dir")))
	w.write("dir", "a file now")
	s = w.take()
	require.Equal(t, []string{".gitignore", "a", "dir", "link", "run.sh"}, w.files(s.Commit))
}

func TestTheUsersCommitGoesOnFromASnapshot(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "b")
	w.take()
	w.write("a", "1")
	w.write("b", "1")
	before := w.take()
	w.git("commit", "-q", "-m", "Half of it", "a")
	half := w.take()
	require.Equal(t, before.Commit, half.Commit, "the tree is the same")
	require.Equal(t, []string{"b"}, half.Uncommitted)

	head := w.commit("All of it")
	after := w.take()
	require.Equal(t, head, after.Commit, "the branch is at the user's commit")
	require.True(t, after.New)
	require.Empty(t, w.snapshots("diff", before.Commit, head), "which has nothing to deploy")

	w.write("a", "2")
	s := w.take()
	require.Equal(t, head, w.snapshots("rev-parse", s.Commit+"^"))
	w.git("checkout", "-q", "a")
	require.Equal(t, head, w.take().Commit, "a change that is taken back")
	w.write("b", "3")
	w.git("commit", "-q", "-a", "--amend", "-m", "Rewritten")
	require.Equal(t, w.git("rev-parse", "HEAD"), w.take().Commit)
	w.git("checkout", "-q", "-b", "other")
	w.write("b", "4")
	require.Equal(t, []string{"b"}, w.take().Uncommitted, "another branch of the working tree is its business")
}

func TestAChangeThatKeepsSizeAndTimeOfAFileIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	for i := range 20 {
		w.write("a", fmt.Sprintf("%02d", i))
		w.git("add", "a")
		w.write("a", fmt.Sprintf("%02d", 99-i))
		s := w.take()
		require.Equal(t, fmt.Sprintf("%02d", 99-i), w.snapshots("show", s.Commit+":a"))
	}
}

func TestConflictsHoldTheSnapshotBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	w.git("checkout", "-q", "-b", "other")
	w.write("a", "theirs")
	w.commit("Theirs")
	w.git("checkout", "-q", "main")
	w.write("a", "ours")
	head := w.commit("Ours")
	w.take()
	require.Error(t, exec.Command("git", "-C", w.root, "merge", "-q", "other").Run())
	for range 2 {
		s, err := w.tree.Take(t.Context())
		var held *HeldError
		require.ErrorAs(t, err, &held)
		require.Equal(t, "files have conflicts: a", held.Problem)
		require.Equal(t, head, s.Commit, "the last one stands")
		w.write("a", "still <<<<<<<")
	}
	w.write("a", "both")
	w.git("add", "a")
	require.Equal(t, []string{"a"}, w.take().Uncommitted)
}

func TestTooMuchIsHeldBackAndNothingIsRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	head := w.take().Commit
	big := filepath.Join(w.root, "core.dump")
	require.NoError(t, os.WriteFile(big, nil, 0o644))
	require.NoError(t, os.Truncate(big, maxBytes+1))
	_, err := w.tree.Take(t.Context())
	require.ErrorContains(t, err, "core.dump among them; put what programs write into .gitignore")
	require.NoError(t, os.Remove(big))
	for i := range maxFiles + 1 {
		w.write(fmt.Sprintf("out/f%d", i), "")
	}
	_, err = w.tree.Take(t.Context())
	require.ErrorContains(t, err, "more than 5000 files")
	require.Equal(t, head, w.snapshots("rev-parse", "main"))
	require.NoError(t, os.Remove(filepath.Join(w.root, "out/f0")))
	require.Len(t, w.take().Uncommitted, maxFiles, "as many as are allowed")
}

func TestRepositoriesWithinAreLeftOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	w.write("vendor/x/file", "x")
	w.gitIn(filepath.Join(w.root, "vendor/x"), "init", "-q")
	w.write("b", "b")
	s := w.take()
	require.Equal(t, []string{"vendor/x"}, s.LeftOut)
	require.Equal(t, []string{"a", "b"}, w.files(s.Commit))
}

func TestObjectsOfFormerSnapshotsAreRemoved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "dir/b")
	count := func() int {
		loose, err := filepath.Glob(filepath.Join(w.tree.Repository(), "objects", "??", "*"))
		require.NoError(t, err)
		return len(loose)
	}
	for i := range 3 * sweepAfter {
		w.write("dir/b", fmt.Sprint(i))
		w.take()
		require.LessOrEqual(t, count(), 4*(sweepAfter+1), "a blob, two trees and a commit for each")
	}
	s := w.take()
	w.open()
	require.Equal(t, 4, count(), "a new process removes what it does not need")
	require.Equal(t, s.Commit, w.take().Commit, "and goes on from what it finds")
	w.snapshots("fsck", "--strict")
}

func TestADamagedStoreIsNotTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	w.write("a", "1")
	w.take()
	require.NoError(t, os.RemoveAll(filepath.Join(w.tree.Repository(), "objects")))
	w.open()
	s := w.take()
	require.Equal(t, "1", w.snapshots("show", s.Commit+":a"))
}

func TestALinkedWorkingTreeCanBeLive(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a")
	linked := filepath.Join(t.TempDir(), "linked")
	w.git("worktree", "add", "-q", "-b", "feature", linked)
	w.root = linked
	w.open()
	w.write("a", "changed")
	require.Equal(t, []string{"a"}, w.take().Uncommitted)
}

// report is what Run passes on.
type report struct {
	snapshot Snapshot
	err      error
}

func (w *world) run() <-chan report {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	news, ended := make(chan report, 100), make(chan error, 1)
	go func() {
		ended <- w.tree.Run(ctx, func(s Snapshot, err error) { news <- report{s, err} })
	}()
	w.t.Cleanup(func() { stop(); require.NoError(w.t, <-ended) })
	return news
}

func (w *world) next(news <-chan report) report {
	w.t.Helper()
	select {
	case got := <-news:
		return got
	case <-time.After(wait):
		require.Fail(w.t, "nothing was reported")
		return report{}
	}
}

func TestSavingIsSeen(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a", "dir/b")
	news := w.run()
	expect := func(files ...string) {
		t.Helper()
		// A burst may end in two snapshots, the last one has it all.
		for {
			got := w.next(news)
			require.NoError(t, got.err)
			if strings.Join(got.snapshot.Uncommitted, " ") == strings.Join(files, " ") {
				return
			}
		}
	}
	w.write("a", "1")
	expect("a")
	w.write("dir/b", "1")
	expect("a", "dir/b")
	w.write("new/deep/c", "1")
	expect("a", "dir/b", "new/deep/c")
	w.write("new/deep/d", "in a directory that was not there at the start")
	expect("a", "dir/b", "new/deep/c", "new/deep/d")
	require.NoError(t, os.Rename(filepath.Join(w.root, "new"), filepath.Join(w.root, "renamed")))
	expect("a", "dir/b", "renamed/deep/c", "renamed/deep/d")
	w.write("renamed/deep/c", "again")
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "All")
	expect()
	require.NoError(t, os.Remove(filepath.Join(w.root, "a")))
	expect("a")
	w.git("checkout", "-q", "a")
	expect()
	require.NoError(t, os.WriteFile(filepath.Join(w.root, ".git", "MERGE_MSG"), []byte("x"), 0o644))
	w.write(".gitignore", "out\n")
	expect(".gitignore")
	w.write("out/ignored", "1")
	w.write("last", "1")
	expect(".gitignore", "last")
}

func TestWhatCannotBeWatchedIsLookedAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "a/x", "b/x", "c/x")
	small := newWatch(w.tree, filewatch.Options{Most: 2})
	defer small.files.Close()
	require.NoError(t, small.addAll(t.Context()))
	require.True(t, small.incomplete)
	require.LessOrEqual(t, len(small.files.Paths()), 2)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	exhausted := atomic.Bool{}
	exhausted.Store(true)
	problems := make(chan error, 10)
	w.tree.options.Watched = func(err error) { problems <- err }
	blind := newWatch(w.tree, filewatch.Options{Most: maxDirs, Open: func() (*fsnotify.Watcher, error) {
		if exhausted.Load() {
			return nil, syscall.EMFILE
		}
		return fsnotify.NewWatcher()
	}})
	defer blind.files.Close()
	news := make(chan report, 100)
	go func() {
		_ = blind.run(ctx, func(s Snapshot, err error) { news <- report{s, err} })
		close(news)
	}()
	w.write("c/x", "changed")
	require.Equal(t, []string{"c/x"}, w.next(news).snapshot.Uncommitted)
	require.ErrorIs(t, <-problems, syscall.EMFILE)
	exhausted.Store(false)
	require.NoError(t, <-problems, "there are watches again")
	stop()
	for range news {
	}
}
