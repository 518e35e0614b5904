// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A program that was copied to a machine with Go and Git, and nothing else, is enough to write a plugin. The compiler
// begins with an empty cache, so that the story takes as long as it does for its user.
func TestAPluginBeginsWithACopiedProgramAlone(t *testing.T) {
	t.Parallel()
	bin := os.Getenv("PIPEDECK_BIN")
	require.NotEmpty(t, bin, "run the stories with: make e2e")
	dir, tools := t.TempDir(), t.TempDir()
	program, err := os.ReadFile(filepath.Join(bin, "pipedeck"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pipedeck"), program, 0o700)) //nolint:gosec // it is run
	for _, name := range []string{"go", "git"} {
		path, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(tools, name)))
	}
	caches := t.TempDir()
	run := func(in string, args ...string) string {
		t.Helper()
		began := time.Now()
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = in
		cmd.Env = []string{
			"PWD=" + in, "HOME=" + t.TempDir(), "PATH=" + tools, "GOPROXY=off", "GOFLAGS=", "GOTOOLCHAIN=local",
			"GOCACHE=" + filepath.Join(caches, "build"), "GOMODCACHE=" + filepath.Join(caches, "mod"),
		}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v\n%s", args, out)
		t.Logf("%v took %s", args, time.Since(began).Round(10*time.Millisecond))
		return string(out)
	}
	goTool := filepath.Join(tools, "go")
	run(dir, filepath.Join(dir, "pipedeck"), "plugin", "new", "greeter")
	plugin := filepath.Join(dir, "greeter")
	run(plugin, goTool, "build", "./...")
	run(plugin, goTool, "test", "./...")
	require.NoDirExists(t, filepath.Join(caches, "mod"), "no module is taken from anywhere else")

	// Nothing is missing in another place, as on the machine of a colleague.
	clone := filepath.Join(t.TempDir(), "clone")
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"add", "."},
		{"-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", "Begin"},
	} {
		run(plugin, append([]string{filepath.Join(tools, "git")}, args...)...)
	}
	run(dir, filepath.Join(tools, "git"), "clone", "-q", plugin, clone)
	left := run(plugin, filepath.Join(tools, "git"), "status", "--short", "--ignored")
	require.Empty(t, left, "all files are committed")
	run(clone, goTool, "list", "-deps", "-test", "./...")
}
