// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inputfile_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/inputfile"
)

func TestWhatIsNotARegularFileIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "") // the path of a socket is short
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	pipe, socket, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "socket"), filepath.Join(dir, "link")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Symlink(pipe, link))
	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	for path, kind := range map[string]string{
		pipe: "named pipe", link: "named pipe", socket: "socket", "/dev/zero": "device", dir: "directory",
	} {
		_, err := inputfile.Read(t.Context(), path, 10)
		require.EqualError(t, err, fmt.Sprintf("open %s: it is a %s, not a regular file", path, kind))
		require.ErrorAs(t, err, new(*fs.PathError))
	}
	_, err = inputfile.Open(filepath.Join(dir, "missing"))
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestAFileIsReadUpToALimit(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("content"), 0o600))
	content, err := inputfile.Read(t.Context(), file, 4)
	require.NoError(t, err)
	require.Equal(t, "cont", string(content))
}

func TestAPipeOfTheShellIsReadAndTheWaitForItCanBeEnded(t *testing.T) {
	t.Parallel()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	defer read.Close()
	path := fmt.Sprintf("/dev/fd/%d", read.Fd())
	cause := errors.New("the user does not wait")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	_, err = inputfile.Read(ctx, path, 100) // nothing was written
	require.ErrorIs(t, err, cause)

	_, err = write.WriteString("generated")
	require.NoError(t, err)
	require.NoError(t, write.Close())
	content, err := inputfile.Read(t.Context(), path, 100)
	require.NoError(t, err)
	require.Equal(t, "generated", string(content))
}
