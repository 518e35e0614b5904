// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

const mark = "pipedeck test"

func refused(t *testing.T, err error, problem string) {
	t.Helper()
	var found *Error
	require.ErrorAs(t, err, &found)
	require.Contains(t, found.Problem, problem)
	require.NotEmpty(t, found.Hint)
}

func TestADirectoryIsClaimedOnceAndKnownAfterwards(t *testing.T) {
	t.Parallel()
	for what, prepare := range map[string]func(dir string) error{
		"missing":               func(string) error { return nil },
		"empty":                 func(dir string) error { return os.Mkdir(dir, 0o755) },
		"claim was interrupted": func(dir string) error { return os.MkdirAll(filepath.Join(dir, "lost+found"), 0o700) },
		"mark was not written whole": func(dir string) error {
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, MarkFile), nil, 0o600)
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "d")
			require.NoError(t, prepare(dir))
			if what != "missing" {
				_, err := OpenMarked(dir, mark, nil)
				require.ErrorIs(t, err, fs.ErrNotExist, "nothing of ours is there yet")
			}
			root, err := Claim(dir, mark, nil)
			require.NoError(t, err)
			require.NoError(t, root.Close())
			info, err := os.Stat(dir)
			require.NoError(t, err)
			require.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
			require.NoError(t, os.WriteFile(filepath.Join(dir, "data"), nil, 0o600))
			for range 2 {
				root, err = Claim(dir, mark, nil)
				require.NoError(t, err)
				require.NoError(t, root.Close())
				root, err = OpenMarked(dir, mark, nil)
				require.NoError(t, err)
				require.NoError(t, root.Close())
			}
			_, err = Claim(dir, "pipedeck other", nil)
			refused(t, err, "is marked as")
		})
	}
}

func TestADirectoryOfAUsersDocumentsIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "thesis.txt"), []byte("years"), 0o644))
	for _, open := range []func(string, string, func(string)) (*os.Root, error){Claim, OpenMarked} {
		_, err := open(dir, mark, nil)
		refused(t, err, "was not created by pipedeck")
	}
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o755), info.Mode().Perm(), "its permissions are none of our business")
	require.NoFileExists(t, filepath.Join(dir, MarkFile))
}

func TestLinksAndPipesAreRefusedAndNotFollowed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.Mkdir(at("real"), 0o700))
	require.NoError(t, os.WriteFile(at("secret"), []byte("x"), 0o600))
	require.NoError(t, os.Symlink("real", at("dirlink")))
	require.NoError(t, os.Symlink("secret", at("filelink")))
	require.NoError(t, syscall.Mkfifo(at("pipe"), 0o600))

	_, err := Claim(at("dirlink"), mark, nil)
	refused(t, err, "symbolic link")
	_, err = Open(at("secret"), nil)
	refused(t, err, "not a directory")
	for _, flag := range []int{os.O_RDONLY, os.O_RDWR | os.O_CREATE | os.O_TRUNC} {
		_, err = OpenFile(at("filelink"), flag)
		refused(t, err, "symbolic link")
		if flag != os.O_RDONLY {
			_, err = OpenFile(at("pipe"), flag)
			refused(t, err, "not a regular file")
		}
	}
	_, err = ReadFile(at("pipe"), 10)
	refused(t, err, "not a regular file")
	content, err := os.ReadFile(at("secret"))
	require.NoError(t, err)
	require.Equal(t, "x", string(content))
	_, err = ReadFile(at("secret"), 0)
	refused(t, err, "is larger than 0 bytes")
}

func TestWhatOthersMayEnterIsClosedToThemWithAMessage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o755))
	file := filepath.Join(dir, "key")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	require.NoError(t, os.Chmod(file, 0o644))
	var said []string
	root, err := Open(dir, func(line string) { said = append(said, line) })
	require.NoError(t, err)
	require.NoError(t, root.Close())
	require.Len(t, said, 1)
	require.Contains(t, said[0], "mode 0755")
	_, err = ReadFile(file, 10)
	require.NoError(t, err)
	for path, mode := range map[string]fs.FileMode{dir: 0o700, file: 0o600} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), path)
	}
}

func TestWhatBelongsToAnotherUserIsRefused(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		// Only the superuser can give files away; the system's own are another user's for everybody else.
		_, err := Open("/etc", nil)
		refused(t, err, "belongs to another user")
		_, err = ReadFile("/etc/passwd", 1<<20)
		refused(t, err, "belongs to another user")
		return
	}
	dir := filepath.Join(t.TempDir(), "d")
	root, err := Claim(dir, mark, nil)
	require.NoError(t, err)
	require.NoError(t, root.Close())
	planted := filepath.Join(dir, "api.key")
	require.NoError(t, os.WriteFile(planted, []byte("x"), 0o600))
	require.NoError(t, os.Chown(planted, 12345, 12345))
	_, err = ReadFile(planted, 10)
	refused(t, err, "belongs to another user (id 12345)")
	require.NoError(t, os.Chmod(dir, 0o777))
	for range 2 {
		_, err = Claim(dir, mark, nil)
		refused(t, err, "api.key in it belongs to user id 12345")
	}
	require.NoError(t, os.Chown(dir, 12345, 12345))
	_, err = Claim(dir, mark, nil)
	refused(t, err, "belongs to another user")
}
