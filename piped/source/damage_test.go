// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/git"
)

func TestASourceIsPreparedFromAMirrorThatWasDamaged(t *testing.T) {
	t.Parallel()
	user := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=Ada", "-c", "user.email=ada@example.com"}, args...)...)
		cmd.Dir = user
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return strings.TrimSpace(string(out))
	}
	run("init", "-q", "-b", "main")
	require.NoError(t, os.WriteFile(filepath.Join(user, "app.pipecd.yaml"), []byte(goodConfig), 0o644))
	run("add", "-A")
	run("commit", "-q", "-m", "First")
	head, file := run("rev-parse", "HEAD"), run("rev-parse", "HEAD:app.pipecd.yaml")
	options := git.Options{ID: "apps", Remote: user, Branch: "main", Dir: filepath.Join(t.TempDir(), "mirror")}
	mirror, err := git.Open(t.Context(), options)
	require.NoError(t, err)
	_, err = mirror.Update(t.Context())
	require.NoError(t, err)
	object := filepath.Join(options.Dir, "objects", file[:2], file[2:])
	require.NoError(t, os.Chmod(object, 0o600))
	require.NoError(t, os.Truncate(object, 4))

	again, err := git.Open(t.Context(), options)
	require.NoError(t, err)
	source, err := newStore(t).Prepare(t.Context(), Request{Repository: again, Commit: head, Path: "."})
	require.NoError(t, err)
	require.Equal(t, goodConfig, string(source.RawConfig))
	require.NoError(t, source.Close())
}
