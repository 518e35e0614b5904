// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package gittest creates repositories with the git program, as users do.
package gittest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Init creates an empty repository with the branch main in a directory of the test.
func Init(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	Run(t, dir, "init", "-q", "-b", "main")
	return dir
}

// Run runs git in a directory as the user Ada, without the configuration of this machine. It returns the output without
// the blanks around it.
func Run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	command := exec.Command("git", args...)
	command.Dir = dir
	command.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com")
	out, err := command.CombinedOutput()
	require.NoError(t, err, "git %s: %s", strings.Join(args, " "), out)
	return strings.TrimSpace(string(out))
}

// Write writes a file below a directory, creating those in between.
func Write(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

// Commit commits all that is in the directory, also if nothing has changed, and returns the hash of the commit.
func Commit(t testing.TB, dir, message string) string {
	t.Helper()
	Run(t, dir, "add", "-A")
	Run(t, dir, "commit", "-q", "--allow-empty", "-m", message)
	return Run(t, dir, "rev-parse", "HEAD")
}
