// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/owned"
)

func put(t *testing.T, path string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte("dear"), 0o600))
}

// filled returns an environment that holds something of each kind.
func filled(t *testing.T) *Workspace {
	t.Helper()
	w := create(t)
	_, err := w.Keys().EnsureSecrets()
	require.NoError(t, err)
	require.NoError(t, w.Keys().EnsureKeyPair())
	require.NoError(t, w.Publish(Running{PID: 1, Address: "127.0.0.1:1"}))
	_, err = w.EnsureSample(tree{"web/app.pipecd.yaml": "x"})
	require.NoError(t, err)
	for _, name := range []string{
		"history", "history.new", "history.unknown-20260102-030405", "history.damaged-20260102-030405-2",
		".history-written", "history.missing-20260102-030405", "kubeconfig", "kubeconfig-prod", "piped.yaml",
		HostKeyFile, "." + HostKeyFile + "-1",
		".address-123", "repository.new/x", "repository.new/" + sampleSign,
		"head/commit-cafe/web/main.go", "live.git/HEAD", "live.git/index.lock", "live.git/objects/ab/cd",
		"plugins/wait.bin", "plugins/wait.bin.new", "plugins/wait.bin.build", "plugins/wait.bin.build.new",
		"sources/greeter/stage.go",
		"cluster/local/etcd/member/snap/db", "cluster/local/pki/ca.crt", "cluster/local/pki.new/admin.key",
		"cluster/local/process-tree", "cluster/local/pods/1-2-3/volumes/data/file",
		"cluster/local/volumes/pvc-1-2-3/file",
		"cluster/local/port", "cluster/local/.port.12",
		"cluster/prod/kind.json", "cluster/prod/.kind.json-1", "cluster/prod/kubeconfig",
		"cluster/prod/kubeconfig.lock",
		"cluster/local/auto.json", "cluster/local/.auto.json-1",
		".kubeconfig.99", "logs/host.log", "logs/plugins/wait.log.1", "secrets/.api.key-99",
		"piped/.pipedeck", "piped/lock", "piped/process-tree", "piped/sources/1/x", "piped/repositories/local/HEAD",
		"piped/repositories/local/objects/pack/x",
		"piped/repositories/local/incoming-1/HEAD", "piped/spool/0123456789abcdef/for.txt",
		"piped/spool/0123456789abcdef/0000000000000001.report",
		"piped/plugins/wait-0123456789abcdef", "piped/plugins/.fetch-1",
		"piped/plugins/fetched/content/" + strings.Repeat("a", 64),
		"piped/plugins/fetched/urls/" + strings.Repeat("b", 64) + ".json", "piped/tools/helm-3.1",
		"piped/tools/.install-1/out", "piped/home/.piped/x", "piped/tmp/x",
	} {
		put(t, w.Path(name))
	}
	return w
}

func remove(t *testing.T, w *Workspace) error {
	t.Helper()
	lock, err := w.Acquire()
	require.NoError(t, err)
	defer lock.Release()
	return w.Remove(lock)
}

func TestRemoveDeletesWhatTheEnvironmentCreated(t *testing.T) {
	t.Parallel()
	w := filled(t)
	require.NoError(t, os.Chmod(w.Path("piped", "sources", "1"), 0o500), "a plugin has taken its own permission away")
	require.NoError(t, remove(t, w))
	require.NoDirExists(t, w.Dir)
	require.DirExists(t, filepath.Dir(w.Dir), "the user's own directory stays")
}

func TestTheDirectoryOfEnvironmentsGoesWithTheLastOnlyIfPipedeckCreatedIt(t *testing.T) {
	t.Parallel()
	root := filepath.Join(t.TempDir(), "a", "state")
	var all []*Workspace
	for _, name := range []string{"one", "two"} {
		w, err := At(root, name)
		require.NoError(t, err)
		require.NoError(t, w.Create())
		all = append(all, w)
	}
	require.NoError(t, remove(t, all[0]))
	require.DirExists(t, root)
	require.NoError(t, remove(t, all[1]))
	require.NoDirExists(t, root)
	require.DirExists(t, filepath.Dir(root))
}

func TestRemoveLeavesAndNamesWhatTheEnvironmentDidNotCreate(t *testing.T) {
	t.Parallel()
	w := filled(t)
	documents := t.TempDir()
	put(t, filepath.Join(documents, "thesis.txt"))
	foreign := []string{"logs/notes.txt", "logs/plugins/mine", "photos/cat.jpg", "secrets/my.key", "thesis.txt"}
	for _, name := range foreign {
		put(t, w.Path(name))
	}

	var left *LeftError
	require.ErrorAs(t, remove(t, w), &left)
	require.Equal(t, []string{"logs/notes.txt", "logs/plugins/mine", "photos", "secrets/my.key", "thesis.txt"},
		left.Names)
	for _, name := range foreign {
		require.FileExists(t, w.Path(name))
	}
	require.NoDirExists(t, w.Path("repository"))
	require.NoFileExists(t, w.Keys().APIKeyFile())

	for _, name := range []string{"logs", "photos", "secrets", "thesis.txt"} {
		require.NoError(t, os.Rename(w.Path(name), filepath.Join(documents, "saved-"+name)))
	}
	require.NoError(t, remove(t, w), "it is still an environment, and can be removed now")
	require.NoDirExists(t, w.Dir)
	require.FileExists(t, filepath.Join(documents, "thesis.txt"))
}

// The directories that other processes fill hold a file of the user each, besides everything that an environment
// creates.
func TestFilesOfTheUserInsideOurDirectoriesAreLeftAndNamed(t *testing.T) {
	t.Parallel()
	w := filled(t)
	foreign := []string{
		"cluster/local/notes.txt", "cluster/local/pki/notes.txt", "cluster/notes.txt", "head/notes.txt",
		"live.git/notes.txt", "piped/notes.txt",
		"piped/plugins/fetched/content/notes.txt", "piped/plugins/notes.txt", "piped/repositories/local/notes.txt",
		"piped/repositories/notes.txt",
		"piped/spool/0123456789abcdef/notes.txt", "piped/spool/notes.txt", "piped/tools/notes.txt", "plugins/notes.txt",
	}
	for _, name := range foreign {
		put(t, w.Path(name))
	}
	require.NoError(t, RemoveCluster(w.ClusterDir("local")))
	require.NoError(t, w.RemoveHead())
	var left *LeftError
	require.ErrorAs(t, remove(t, w), &left)
	require.Equal(t, foreign, left.Names)
	var kept []string
	for _, dir := range []string{"cluster", "head", "live.git", "piped", "plugins"} {
		require.NoError(t, filepath.WalkDir(w.Path(dir), func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && filepath.Base(path) != "notes.txt" {
				kept = append(kept, path)
			}
			return err
		}))
	}
	require.Equal(t, []string{w.Path("piped", ".pipedeck"), w.Path("piped", "lock")}, kept,
		"piped can use its directory again")
	for _, name := range foreign {
		require.NoError(t, os.Remove(w.Path(name)))
	}
	require.NoError(t, remove(t, w))
	require.NoDirExists(t, w.Dir)
}

func TestALinkInAStoreIsLeftAndNotFollowed(t *testing.T) {
	t.Parallel()
	documents := t.TempDir()
	put(t, filepath.Join(documents, "thesis.txt"))
	w := create(t)
	for _, name := range []string{"piped/sources", "cluster/local", "head", "piped/repositories"} {
		require.NoError(t, os.Symlink(documents, w.Path(name)))
	}
	require.Error(t, w.RemoveHead())
	require.Error(t, RemoveCluster(w.ClusterDir("local")))
	require.NoError(t, os.Remove(w.Path("head")))
	var left *LeftError
	require.ErrorAs(t, remove(t, w), &left)
	require.Equal(t, []string{"cluster/local", "piped/repositories", "piped/sources"}, left.Names)
	require.FileExists(t, filepath.Join(documents, "thesis.txt"))
}

func TestARepositoryThatTheUserPutThereIsLeft(t *testing.T) {
	t.Parallel()
	w := create(t)
	foreign := []string{"history.mine", "repository/.git/HEAD", "repository/thesis.txt"}
	for _, name := range foreign {
		put(t, w.Path(name))
	}
	var left *LeftError
	require.ErrorAs(t, remove(t, w), &left)
	require.Equal(t, []string{"history.mine", "repository"}, left.Names)
	for _, name := range foreign {
		require.FileExists(t, w.Path(name))
	}
}

func TestLinksInTheDirectoryAreNeverFollowed(t *testing.T) {
	t.Parallel()
	documents := t.TempDir()
	put(t, filepath.Join(documents, "thesis.txt"))

	w := filled(t)
	require.NoError(t, os.Symlink(documents, w.Path("repository", "docs")))
	require.NoError(t, remove(t, w))
	require.FileExists(t, filepath.Join(documents, "thesis.txt"))

	for _, name := range []string{"head", "address", "logs", "cluster", "secrets/api.key", "piped"} {
		w := filled(t)
		require.NoError(t, os.RemoveAll(w.Path(name)))
		require.NoError(t, os.Symlink(documents, w.Path(name)))
		lock, err := w.Acquire()
		require.NoError(t, err)
		for _, err := range []error{w.Check(), w.Create(), w.Remove(lock)} {
			var refused *owned.Error
			require.ErrorAs(t, err, &refused, name)
			require.Contains(t, refused.Problem, "symbolic link")
		}
		require.NoError(t, lock.Release())
		require.FileExists(t, filepath.Join(documents, "thesis.txt"), name)
	}
	require.NoError(t, RemoveTree(w.Path("cluster", "x")), "its parent is gone")
}

// The control plane reports what is in the place of its history. So these environments start and are degraded.
func TestWhatIsInThePlaceOfTheHistoryKeepsNoEnvironmentFromStarting(t *testing.T) {
	t.Parallel()
	documents := t.TempDir()
	put(t, filepath.Join(documents, "thesis.txt"))
	for name, replace := range map[string]func(path string) error{
		"a directory":     func(path string) error { return os.Mkdir(path, 0o700) },
		"a symbolic link": func(path string) error { return os.Symlink(filepath.Join(documents, "thesis.txt"), path) },
		"a named pipe":    func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := filled(t)
			require.NoError(t, os.Remove(w.History()))
			require.NoError(t, replace(w.History()))
			require.NoError(t, w.Check())
			require.NoError(t, w.Create())
			var left *LeftError
			require.ErrorAs(t, remove(t, w), &left)
			require.Equal(t, []string{"history"}, left.Names)
		})
	}
	t.Cleanup(func() { require.FileExists(t, filepath.Join(documents, "thesis.txt")) })
}

func TestADirectoryThatIsNotOursIsNeitherTakenNorRemoved(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	w, err := At(root, "documents")
	require.NoError(t, err)
	put(t, w.Path("thesis.txt"))
	put(t, w.Path("logs", "my.log"))
	exists, err := w.Exists()
	require.False(t, exists)
	require.ErrorContains(t, err, "was not created by pipedeck")
	require.ErrorContains(t, w.Create(), "was not created by pipedeck")
	_, err = w.AcquireExisting()
	require.ErrorContains(t, err, "was not created by pipedeck")
	lock, err := w.Acquire()
	require.NoError(t, err)
	defer lock.Release()
	require.ErrorContains(t, w.Remove(lock), "was not created by pipedeck")
	require.FileExists(t, w.Path("thesis.txt"))
	require.FileExists(t, w.Path("logs", "my.log"))

	// A copy of an environment is someone's backup.
	original, err := At(root, "demo")
	require.NoError(t, err)
	require.NoError(t, original.Create())
	require.NoError(t, os.CopyFS(filepath.Join(root, "backup"), os.DirFS(original.Dir)))
	backup, err := At(root, "backup")
	require.NoError(t, err)
	require.ErrorContains(t, backup.Check(), `is marked as "pipedeck environment demo"`)
}

func TestNothingIsRemovedWithoutTheLock(t *testing.T) {
	t.Parallel()
	w, other := filled(t), filled(t)
	require.ErrorContains(t, w.Remove(nil), "lock is not held")
	lock, err := other.Acquire()
	require.NoError(t, err)
	defer lock.Release()
	require.ErrorContains(t, w.Remove(lock), "lock is not held")
	require.FileExists(t, w.Keys().APIKeyFile())
}

func TestAnInterruptedRemovalCanBeFinishedOrBegunAgain(t *testing.T) {
	t.Parallel()
	w := filled(t)
	require.NoError(t, os.RemoveAll(w.Path("secrets")))
	require.NoFileExists(t, w.Path("lock"), "it was never run")
	lock, err := w.AcquireExisting()
	require.NoError(t, err)
	require.NoError(t, w.Remove(lock))
	_, err = w.AcquireExisting()
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, lock.Release())

	require.NoError(t, w.Create())
	require.NoError(t, os.RemoveAll(w.Path("logs")))
	for _, name := range []string{"secrets", "piped", "cluster"} {
		require.NoError(t, os.Remove(w.Path(name)))
	}
	put(t, w.Path("x"))
	require.NoError(t, os.Remove(w.Path("x")))
	require.NoError(t, os.WriteFile(w.Path("lock"), nil, 0o600))
	require.NoError(t, os.Remove(w.Path(owned.MarkFile)), "the mark goes first, the lock after it")
	_, err = w.AcquireExisting()
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, w.Create())
}

func TestAStateDirectoryThatOthersMayChangeIsRefused(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	w, err := At(root, "demo")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(root, 0o777))
	var refused *owned.Error
	require.ErrorAs(t, w.Create(), &refused)
	require.Contains(t, refused.Hint, "chmod go-w "+root)
	require.NoError(t, os.Chmod(root, 0o777|fs.ModeSticky))
	require.NoError(t, w.Create(), "as in /tmp, no one else can exchange what is in it")
	if os.Geteuid() != 0 {
		return
	}
	require.NoError(t, os.Chown(root, 12345, 12345))
	require.ErrorAs(t, w.Check(), &refused)
	require.Contains(t, refused.Problem, "belongs to another user")
}

func TestAPlantedKeyOfAnotherUserIsNotUsed(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only the superuser can give files away")
	}
	w := create(t)
	require.NoError(t, os.WriteFile(w.Keys().APIKeyFile(), []byte("story.planted"), 0o644))
	require.NoError(t, os.Chown(w.Keys().APIKeyFile(), 12345, 12345))
	_, err := w.Keys().APIKey()
	require.ErrorContains(t, err, "belongs to another user")
	_, err = w.Keys().EnsureSecrets()
	require.ErrorContains(t, err, "belongs to another user")
	require.ErrorContains(t, w.Create(), "belongs to another user")
	_, err = w.Alive()
	require.ErrorContains(t, err, "belongs to another user")
}
