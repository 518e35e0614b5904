// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sources_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/cluster/embedded/sources"
)

func TestWhatIsReadIsAllThatTheProgramIsMadeOf(t *testing.T) {
	t.Parallel()
	files, err := sources.Read(filepath.Join("..", "..", "..", "embeddedk8s"))
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, files.Write(dir))
	list := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.ImportPath}} {{.EmbedFiles}}", "./...")
	list.Dir, list.Env = dir, append(list.Environ(), "GOWORK=off")
	out, err := list.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "embeddedk8s/routes [crds/")
	for name := range files {
		require.NotContains(t, name, "_test.go")
	}
}
