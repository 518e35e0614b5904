// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/docs/page"
	"github.com/pipedeck/pipedeck/tui/theme"
)

// filling is what piped replaces in a template.
var filling = regexp.MustCompile(`{{[^}]*}}`)

// TestFilesInTheDocumentationAreRight checks the files that the pages show besides configurations of piped and of
// applications, each as the program does that reads it.
func TestFilesInTheDocumentationAreRight(t *testing.T) {
	t.Parallel()
	pages, err := page.All("../../..")
	require.NoError(t, err)
	checked := 0
	for _, path := range pages {
		blocks, err := page.Read(path)
		require.NoError(t, err)
		for _, b := range blocks {
			if b.Language == "yaml" && b.File() != "" && !b.Configures() {
				requireRight(t, b)
				checked++
			}
		}
	}
	require.GreaterOrEqual(t, checked, 5)
}

func requireRight(t *testing.T, b page.Block) {
	t.Helper()
	file := filepath.Join(t.TempDir(), filepath.Base(b.File()))
	require.NoError(t, os.WriteFile(file, []byte(b.Text), 0o600))
	var content map[string]any
	require.NoError(t, yaml.Unmarshal(filling.ReplaceAll([]byte(b.Text), []byte("x")), &content), b.Place())
	switch filepath.Base(file) {
	case "keys.yaml", "config.yaml", "index.yaml", "piped-plugin.yaml":
		code, stdout, stderr := command(t.Context(), t.TempDir(), "validate", "--strict", file)
		require.Zero(t, code, "%s\n%s%s", b.Place(), stdout, stderr)
	case "my-theme.yaml":
		_, err := theme.Choose(file)
		require.NoError(t, err, b.Place())
	case "values.yaml":
		require.Contains(t, content, "config", b.Place())
	case "NAME.yaml": // of the changelog
		require.Contains(t, content, "kind", b.Place())
	default:
		require.Contains(t, content, "apiVersion", "%s: neither a file that pipedeck reads nor a manifest", b.Place())
		require.Contains(t, content, "kind", b.Place())
		require.Contains(t, content, "metadata", b.Place())
	}
}
