// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package filetest writes the files of tests, and has small disks for them.
package filetest

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Write writes files, named by their paths relative to dir, and the directories in between. It returns dir.
func Write(t testing.TB, dir string, files map[string]string) string {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
	}
	return dir
}
