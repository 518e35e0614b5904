// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inputfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/filetest"
	"github.com/pipedeck/pipedeck/system/inputfile"
)

func TestAFullDiskLeavesAFileOfAUserAsItWas(t *testing.T) {
	t.Parallel()
	disk := filetest.SmallDisk(t, "1m")
	file := filepath.Join(disk, "file")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
	require.ErrorIs(t, inputfile.Replace(file, []byte(strings.Repeat("x", 2<<20))), syscall.ENOSPC)
	now, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "old", string(now))
	entries, err := os.ReadDir(disk)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}
