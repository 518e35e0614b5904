// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFileThatCannotBeWrittenIsFoundBeforeTheRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inDir := func(name string) string { return filepath.Join(dir, name) }
	for problem, files := range map[string]Files{
		"there is no directory":    {JUnit: []string{inDir("none/report.xml")}},
		"it is a directory":        {JUnit: []string{dir}},
		"it names no file":         {JUnit: []string{""}},
		"neither .md nor .json":    {Reports: []string{inDir("report.xml")}},
		"it is also named as":      {JUnit: []string{inDir("a.json")}, Reports: []string{inDir("./a.json")}},
		"it is not a regular file": {Reports: []string{inDir("null.md")}},
		"not a directory":          {Reports: []string{inDir("file/report.md")}},
	} {
		require.NoError(t, os.WriteFile(inDir("file"), nil, 0o600))
		_ = os.Symlink("/dev/null", inDir("null.md"))
		var wrong *FileError
		require.ErrorAs(t, files.Check(), &wrong, problem)
		require.Contains(t, wrong.Error(), problem)
		require.NotEmpty(t, wrong.Hint)
	}
}

func TestReportsAreReplacedAsAWholeAndThroughLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	inDir := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(inDir("real.json"), []byte("old"), 0o600))
	require.NoError(t, os.Symlink("real.json", inDir("link.json")))
	files := Files{JUnit: []string{inDir("junit.xml")},
		Reports: []string{inDir("a.md"), inDir("link.json"), inDir("b.JSON")}}
	require.NoError(t, files.Check())
	require.NoError(t, files.Write(many(t)))
	link, err := os.Readlink(inDir("link.json"))
	require.NoError(t, err)
	require.Equal(t, "real.json", link)
	for _, name := range []string{"junit.xml", "a.md", "real.json", "b.JSON"} {
		data, err := os.ReadFile(inDir(name))
		require.NoError(t, err)
		require.Contains(t, string(data), "app-24", name)
	}
	left, err := filepath.Glob(inDir(".pipedeck*"))
	require.NoError(t, err)
	require.Empty(t, left)
}
