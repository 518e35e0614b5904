// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/document"
)

const oldApplication = `apiVersion: pipecd.dev/v1beta1
kind: KubernetesApp
spec:
  name: web
  input:
    namespace: shop   # ours
    autoRollback: false
  resourceRoutes: []
`

// oldFiles makes a directory with an application of v0 and one of v1, and returns the name of the first.
func oldFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "new.pipecd.yaml"), []byte(clitest.GoodApplication), 0o600))
	file := filepath.Join(dir, "old.pipecd.yaml")
	require.NoError(t, os.WriteFile(file, []byte(oldApplication), 0o640))
	return file
}

func TestMigrateShowsADiffAndTouchesNothing(t *testing.T) {
	t.Parallel()
	file := oldFiles(t)
	code, stdout, stderr := command(t.Context(), t.TempDir(), "migrate", filepath.Dir(file))
	require.Zero(t, code, stderr)
	golden(t, "migrate/dry-run.diff", strings.ReplaceAll(stdout, filepath.Dir(file), "DIR"))
	golden(t, "migrate/dry-run.txt", strings.ReplaceAll(stderr, filepath.Dir(file), "DIR"))
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, oldApplication, string(content))
}

func TestMigrateWritesFilesThatValidateAcceptsAndKeepsTheirMode(t *testing.T) {
	t.Parallel()
	file := oldFiles(t)
	link := filepath.Join(t.TempDir(), "link.yaml")
	require.NoError(t, os.Symlink(file, link))
	code, stdout, stderr := command(t.Context(), t.TempDir(), "migrate", "--write", link)
	require.Zero(t, code, stderr)
	require.Empty(t, stdout)
	require.Contains(t, stderr, link+": migrated\n")

	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink, "the link is one still")
	info, err = os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	left, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, left, 2, "no temporary file is left")

	code, stdout, _ = command(t.Context(), t.TempDir(), "validate", "--strict", file)
	require.Zero(t, code, stdout)
	code, stdout, stderr = command(t.Context(), t.TempDir(), "migrate", "--write", file)
	require.Zero(t, code)
	require.Empty(t, stdout)
	require.Equal(t, file+": nothing to do, it is v1 already\n", stderr)
}

func TestMigrateForMachines(t *testing.T) {
	t.Parallel()
	file := oldFiles(t)
	code, stdout, _ := command(t.Context(), t.TempDir(), "migrate", "-o", "json", filepath.Dir(file))
	require.Zero(t, code)
	var got document.Migrations
	clitest.Document(t, "migrations", stdout, &got)
	require.Len(t, got.Files, 2)
	require.False(t, got.Files[0].Changed)
	require.Equal(t, file, got.Files[1].File)
	require.True(t, got.Files[1].Changed)
	require.False(t, got.Files[1].Written)
	require.Contains(t, got.Files[1].Diff, "+kind: Application\n")
	require.Equal(t, 8, got.Files[1].Notes[0].Line)
}

func TestAFileThatCannotBeMigratedStopsNoOther(t *testing.T) {
	t.Parallel()
	file := oldFiles(t)
	broken := filepath.Join(filepath.Dir(file), "broken.pipecd.yaml")
	require.NoError(t, os.WriteFile(broken, []byte("apiVersion: pipecd.dev/v1beta1\nkind: KubernetesApp\n"+
		"spec: {timeout: 1s\n"), 0o600))
	code, _, stderr := command(t.Context(), t.TempDir(), "migrate", "--write", filepath.Dir(file))
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, broken+":")
	require.Contains(t, stderr, file+": migrated")
	require.Contains(t, stderr, "1 file could not be migrated")
	require.Contains(t, stderr, "next step: ")
}
