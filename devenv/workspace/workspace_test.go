// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func create(t *testing.T) *Workspace {
	t.Helper()
	w, err := At(t.TempDir(), "story")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	return w
}

func TestNamesThatCouldEscapeTheStateDirectoryAreRefused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "..", "a/b", "Demo", "-a", "a-", "a.b", "ünicode",
		"a234567890123456789012345678901234567890x"} {
		_, err := At(t.TempDir(), name)
		require.ErrorContains(t, err, "environment name", "name %q", name)
	}
	for _, name := range []string{"a", "default", "demo-2"} {
		_, err := At(t.TempDir(), name)
		require.NoError(t, err)
	}
}

func TestEverythingInTheWorkspaceBelongsToTheUserAlone(t *testing.T) {
	t.Parallel()
	w := create(t)
	_, err := w.Keys().EnsureSecrets()
	require.NoError(t, err)
	require.NoError(t, w.Publish(Running{PID: 1, Address: "127.0.0.1:1"}))
	require.NoError(t, filepath.WalkDir(w.Dir, func(path string, entry os.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := entry.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode().Perm()&0o077, "%s is open to others: %s", path, info.Mode())
		return nil
	}))
}

func TestSecretsAreMadeOnceAndDifferBetweenEnvironments(t *testing.T) {
	t.Parallel()
	w := create(t)
	first, err := w.Keys().EnsureSecrets()
	require.NoError(t, err)
	again, err := w.Keys().EnsureSecrets()
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Len(t, first.PipedKey, 50)
	require.Regexp(t, `^story\.[a-zA-Z0-9]{32}$`, first.APIKey)

	other, err := create(t).Keys().EnsureSecrets()
	require.NoError(t, err)
	require.NotEqual(t, first.PipedKey, other.PipedKey)
	require.NotEqual(t, first.APIKey, other.APIKey)
}

// PipeCD's trace exporter sends the content of the key file in a header, which may not hold a line break.
func TestKeyFilesHoldTheKeyAndNothingElse(t *testing.T) {
	t.Parallel()
	w := create(t)
	secrets, err := w.Keys().EnsureSecrets()
	require.NoError(t, err)
	for _, written := range []string{secrets.PipedKey, secrets.PipedKey + "\n"} { // an older build wrote the second
		require.NoError(t, os.WriteFile(w.Keys().PipedKeyFile(), []byte(written), 0o600))
		again, err := w.Keys().EnsureSecrets()
		require.NoError(t, err)
		require.Equal(t, secrets, again)
		content, err := os.ReadFile(w.Keys().PipedKeyFile())
		require.NoError(t, err)
		require.Equal(t, secrets.PipedKey, string(content))
	}
	fresh := create(t)
	secrets, err = fresh.Keys().EnsureSecrets()
	require.NoError(t, err)
	content, err := os.ReadFile(fresh.Keys().PipedKeyFile())
	require.NoError(t, err)
	require.Equal(t, secrets.PipedKey, string(content))
}

func TestOnlyOneHolderHasTheLock(t *testing.T) {
	t.Parallel()
	w := create(t)
	alive, err := w.Alive()
	require.NoError(t, err)
	require.False(t, alive, "no one has run it yet")

	lock, err := w.Acquire()
	require.NoError(t, err)
	_, err = w.Acquire()
	require.ErrorIs(t, err, ErrLocked)
	alive, err = w.Alive()
	require.NoError(t, err)
	require.True(t, alive)

	require.NoError(t, lock.Release())
	alive, err = w.Alive()
	require.NoError(t, err)
	require.False(t, alive)
}

func TestWhatAHolderPublishesOthersReadUntilItWithdraws(t *testing.T) {
	t.Parallel()
	w := create(t)
	published := Running{PID: 7, Address: "127.0.0.1:4711", StartedAt: time.Unix(1, 0).UTC(),
		Clusters: map[string]string{"local": "embedded"}, Processes: map[string]Child{"piped": {8, 9}}}
	require.NoError(t, w.Publish(published))
	read, err := w.Published()
	require.NoError(t, err)
	require.Equal(t, &published, read)

	require.NoError(t, w.Withdraw())
	require.NoError(t, w.Withdraw(), "twice is as good as once")
	_, err = w.Published()
	require.ErrorIs(t, err, os.ErrNotExist)
	last, err := w.LastAddress()
	require.NoError(t, err)
	require.Equal(t, published.Address, last, "the next run tries the same port")

	for _, other := range []string{"", ":4711", "0.0.0.0:4711", "[::]:4711", "192.0.2.1:4711", "localhost:4711"} {
		require.NoError(t, os.WriteFile(w.Path("address"), []byte(other), 0o600))
		_, err = w.LastAddress()
		require.Error(t, err, "%q must let no one else in", other)
	}
}

func TestListFindsEnvironmentsAndNothingElse(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	found, others, err := List(filepath.Join(root, "missing"))
	require.NoError(t, err)
	require.Empty(t, found)
	require.Empty(t, others)

	one, err := At(root, "one")
	require.NoError(t, err)
	require.NoError(t, one.Create())
	require.NoError(t, os.Mkdir(filepath.Join(root, "empty"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "photos", "2026"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "Not One"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "file"), nil, 0o600))
	found, others, err = List(root)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Equal(t, "one", found[0].Name)
	require.Equal(t, []string{filepath.Join(root, "photos")}, others)
}

func TestWhoComesEarlyWaitsUntilTheEnvironmentIsPublished(t *testing.T) {
	t.Parallel()
	w := create(t)
	found := make(chan *Running, 1)
	go func() {
		running, err := w.AwaitPublished(t.Context())
		if err == nil {
			found <- running
		}
		close(found)
	}()
	require.NoError(t, w.Publish(Running{PID: 3, Address: "127.0.0.1:1"}))
	running := <-found
	require.NotNil(t, running)
	require.Equal(t, 3, running.PID)

	require.NoError(t, w.Withdraw())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := w.AwaitPublished(ended)
	require.ErrorIs(t, err, context.Canceled)
}

func TestProgramsOfPluginsStayInTheirFolder(t *testing.T) {
	t.Parallel()
	w := create(t)
	for _, name := range []string{"moon", "..", ".", "../../moon", "a/b"} {
		require.Equal(t, w.Path("plugins"), filepath.Dir(w.PluginProgram(name)), name)
	}
}
