// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// storeOf opens a store in dir.
func storeOf(t *testing.T, dir string, mapped ...LocalImage) *programStore {
	t.Helper()
	s := newProgramStore(dir, mapped)
	require.NoError(t, s.open())
	return s
}

// listed returns what the server reads.
func listed(t *testing.T, s *programStore) map[string]LocalImage {
	t.Helper()
	content, err := os.ReadFile(s.list())
	require.NoError(t, err)
	var list programList
	require.NoError(t, json.Unmarshal(content, &list))
	require.Equal(t, listVersion, list.Version)
	images := map[string]LocalImage{}
	for _, image := range list.Programs {
		images[image.Image] = image
	}
	return images
}

// built writes a program as the builder of images does.
func built(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o500))
	return path
}

func TestABuiltImageMayRunWhatTheUserLetsIt(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "programs")
	s := storeOf(t, dir, LocalImage{Image: "pipedeck.dev/web", MayRun: []string{"/bin/sh"}},
		LocalImage{Image: "pipedeck.dev/api:2", MayRun: []string{"/bin/cat"}})
	require.Empty(t, listed(t, s), "nothing is built yet")
	require.NoError(t, s.add(built(t, "web"), []string{"pipedeck.dev/web:1"}))
	require.NoError(t, s.add(built(t, "api"), []string{"pipedeck.dev/api:1", "pipedeck.dev/api:2"}))
	require.Equal(t, []string{"/bin/sh"}, listed(t, s)["pipedeck.dev/web:1"].MayRun)
	require.Empty(t, listed(t, s)["pipedeck.dev/api:1"].MayRun)
	require.Equal(t, []string{"/bin/cat"}, listed(t, s)["pipedeck.dev/api:2"].MayRun)

	s = storeOf(t, dir)
	require.Empty(t, listed(t, s)["pipedeck.dev/web:1"].MayRun, "it ends with the flag")
}

func TestAProgramIsKeptUnderTheDigestOfItsContent(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "programs")
	mapped := LocalImage{Image: "shop", Path: "/usr/bin/shop", SHA256: "abc", MayRun: []string{"/bin/sh"}}
	s := storeOf(t, dir, mapped)
	require.Equal(t, map[string]LocalImage{"shop": mapped}, listed(t, s))

	require.NoError(t, s.add(built(t, "one"), []string{"web:1", "web:v1"}))
	sum := sha256.Sum256([]byte("one"))
	digest := hex.EncodeToString(sum[:])
	one := LocalImage{Image: "web:1", Path: filepath.Join(dir, digest), SHA256: digest, HonoursPort: true,
		Entrypoint: entrypoint}
	require.Equal(t, one, listed(t, s)["web:1"])
	content, err := os.ReadFile(one.Path)
	require.NoError(t, err)
	require.Equal(t, "one", string(content))
	for path, mode := range map[string]os.FileMode{one.Path: 0o500, s.list(): 0o600, dir: 0o700} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), path)
	}

	require.NoError(t, s.add(built(t, "two"), []string{"web:2", "web:v1"}))
	require.NotEqual(t, digest, listed(t, s)["web:v1"].SHA256, "a name moves to what was loaded last")
	require.Equal(t, digest, listed(t, s)["web:1"].SHA256)
	require.True(t, s.has([]string{"web:1", "web:2", "web:v1"}))
	require.False(t, s.has([]string{"web:1", "web:3"}))

	require.NoError(t, s.add(built(t, "two"), []string{"web:1"}))
	require.NoFileExists(t, one.Path, "no name stands for it any more")
}

func TestTheNextRunContinuesWithTheProgramsOfTheLast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := storeOf(t, dir, LocalImage{Image: "old", Path: "/bin/old"})
	require.NoError(t, s.add(built(t, "one"), []string{"web:1"}))
	require.NoError(t, s.add(built(t, "two"), []string{"web:2"}))
	require.NoError(t, os.Remove(listed(t, s)["web:2"].Path))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".new-1"), nil, 0o600)) // of a run that was killed
	require.NoError(t, os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o600))

	again := storeOf(t, dir, LocalImage{Image: "new", Path: "/bin/new"})
	images := listed(t, again)
	require.Len(t, images, 2)
	require.Contains(t, images, "web:1")
	require.Contains(t, images, "new", "what the user maps is that of this run")
	require.NoFileExists(t, filepath.Join(dir, ".new-1"))
	require.FileExists(t, filepath.Join(dir, "notes.txt"), "it is not ours")

	require.NoError(t, os.WriteFile(again.list(), []byte("{"), 0o600))
	require.Empty(t, listed(t, storeOf(t, dir)), "images are built again")
}

func TestOldProgramsThatNoPodNamesAreRemoved(t *testing.T) {
	t.Parallel()
	s := storeOf(t, t.TempDir())
	now := time.Now()
	s.now = func() time.Time { return now }
	for i := range maxStored + 3 {
		require.NoError(t, s.add(built(t, fmt.Sprint(i)), []string{fmt.Sprintf("web:%d", i)}))
	}
	require.True(t, s.full())
	gone, err := s.prune(map[string]bool{})
	require.NoError(t, err)
	require.Empty(t, gone, "their pods may be yet to come")

	now = now.Add(settleTime + time.Second)
	used := listed(t, s)["web:1"]
	gone, err = s.prune(map[string]bool{"web:1": true})
	require.NoError(t, err)
	require.Equal(t, []string{"web:0", "web:2"}, gone)
	require.FileExists(t, used.Path)
	require.Len(t, listed(t, s), maxStored+1)
	entries, err := os.ReadDir(s.dir)
	require.NoError(t, err)
	require.Len(t, entries, maxStored+1+1, "with the list")
	require.False(t, s.has([]string{"web:0"}), "so that it is loaded again")

	gone, err = s.prune(map[string]bool{})
	require.NoError(t, err)
	require.Equal(t, []string{"web:1"}, gone)
	require.False(t, s.full())
}
