// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestThePageAboutJSONIsThatOfTheTypes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, outputPage))
	require.NoError(t, err)
	want, err := outputReference(string(text), root)
	require.NoError(t, err)
	require.True(t, want == string(text), "%s is stale: run make generate", outputPage)
	_, err = outputReference("no marks", root)
	require.ErrorContains(t, err, "the text has no lines")
	for _, of := range lines() {
		require.Contains(t, want, "- `"+of.name+"`: ")
	}
}

// A schema that no test compares with the output of its command may say anything.
func TestEveryDocumentIsComparedWithTheOutputOfItsCommand(t *testing.T) {
	t.Parallel()
	var tests strings.Builder
	require.NoError(t, filepath.WalkDir(filepath.Join(root, "cmd", "pipedeck"), func(path string, _ fs.DirEntry,
		err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := os.ReadFile(path)
		tests.Write(data)
		return err
	}))
	for _, of := range documents() {
		require.Contains(t, tests.String(), `clitest.Document(t, "`+of.name+`", `, of.title)
	}
}
