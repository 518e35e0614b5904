// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"aead.dev/minisign"
	"github.com/stretchr/testify/require"
)

// install writes a signed release and returns its directory and key.
func install(t *testing.T) (dir, key string, private minisign.PrivateKey) {
	t.Helper()
	dir = t.TempDir()
	public, private, err := minisign.GenerateKey(rand.Reader)
	require.NoError(t, err)
	release := Release{Version: "0.1.0", Platform: "linux/amd64", Files: []ReleasedFile{
		{Path: "bin/plugins/wait", Link: "bundled"},
	}}
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "bin", "plugins"), 0o755))
	for _, name := range []string{"bin/pipedeck", "bin/plugins/bundled", "LICENSE"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(name), 0o555))
		sum := sha256.Sum256([]byte(name))
		release.Files = append(release.Files, ReleasedFile{Path: name, SHA256: hex.EncodeToString(sum[:])})
	}
	require.NoError(t, os.Symlink("bundled", filepath.Join(dir, "bin", "plugins", "wait")))
	list, err := json.Marshal(release)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, ReleaseFile), list, 0o644))
	signature := filepath.Join(dir, ReleaseFile+SignatureSuffix)
	require.NoError(t, os.WriteFile(signature, minisign.Sign(private, list), 0o644))
	return dir, public.String(), private
}

func TestAReleaseThatWasNotChangedIsVerified(t *testing.T) {
	t.Parallel()
	dir, key, _ := install(t)
	found, err := FindRelease(filepath.Join(dir, "bin", "pipedeck"))
	require.NoError(t, err)
	require.Equal(t, dir, found)
	release, err := VerifyRelease(dir, key)
	require.NoError(t, err)
	require.Equal(t, "0.1.0", release.Version)
	_, err = FindRelease(filepath.Join(t.TempDir(), "bin", "pipedeck"))
	require.ErrorIs(t, err, ErrNoRelease)
}

func TestAnyChangeOfAReleaseIsRefused(t *testing.T) {
	t.Parallel()
	_, other, _ := install(t)
	replace := func(t *testing.T, path, content string) {
		t.Helper()
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o755))
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, dir string)
		says   string
	}{
		"a changed byte": {func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, "bin", "pipedeck"), "bin/pipedecl")
		}, "bin/pipedeck: it was changed"},
		"a missing file": {func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "LICENSE")))
		}, "LICENSE: it is missing"},
		"a plugin that was put in place of a link": {func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, "bin", "plugins", "wait"), "evil")
		}, "bin/plugins/wait: it is not a link"},
		"a link that leads elsewhere": {func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "bin", "plugins", "wait")))
			require.NoError(t, os.Symlink("/tmp/evil", filepath.Join(dir, "bin", "plugins", "wait")))
		}, "bin/plugins/wait: it is not a link"},
		"a further program": {func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "bin", "embeddedk8s"), []byte("x"), 0o755))
		}, "bin/embeddedk8s: it does not belong"},
		"a changed list": {func(t *testing.T, dir string) {
			replace(t, filepath.Join(dir, ReleaseFile), "{}")
		}, "release.json is not signed"},
		"no signature": {func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, ReleaseFile+SignatureSuffix)))
		}, "read the signature"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, key, _ := install(t)
			c.change(t, dir)
			_, err := VerifyRelease(dir, key)
			require.ErrorContains(t, err, c.says)
		})
	}
	dir, _, _ := install(t)
	_, err := VerifyRelease(dir, other)
	require.ErrorContains(t, err, "not signed by the key")
	_, err = VerifyRelease(dir, "RWnonsense")
	require.ErrorContains(t, err, "not a public key")
}

func TestASignedFileIsVerifiedAndAChangedOneRefused(t *testing.T) {
	t.Parallel()
	_, key, private := install(t)
	file := filepath.Join(t.TempDir(), "pipedeck.tar.gz")
	require.NoError(t, os.WriteFile(file, []byte("an archive"), 0o600))
	require.ErrorContains(t, VerifyFile(file, key), "read the signature")
	reader := minisign.NewReader(mustOpen(t, file))
	_, err := reader.Read(make([]byte, 100))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file+SignatureSuffix, reader.Sign(private), 0o600))
	require.NoError(t, VerifyFile(file, key))
	require.NoError(t, os.WriteFile(file, []byte("an archivf"), 0o600))
	require.ErrorContains(t, VerifyFile(file, key), "not the file that was signed")
}

func mustOpen(t *testing.T, path string) *os.File {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	return file
}
