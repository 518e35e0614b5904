// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// tree is a sample with these files.
type tree map[string]string

func (f tree) Walk(fn func(name string, content []byte) error) error {
	for name, content := range f {
		if err := fn(name, []byte(content)); err != nil {
			return err
		}
	}
	return nil
}

func TestImagesAndFilesAreThoseOfTheCommit(t *testing.T) {
	t.Parallel()
	w, err := At(t.TempDir(), "x")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	repository, err := w.EnsureSample(tree{
		"web/app.pipecd.yaml": "kind: Application\n",
		"web/deployment.yaml": "image: pipedeck.dev/web:v1\nimage: nginx\n---\n" +
			"image: \"pipedeck.dev/services/api\"\n",
		"web/more/pod.json":        `{"image":"pipedeck.dev/web:v2"}`,
		"web/README.md":            "pipedeck.dev/readme:v1",
		"elsewhere/unrelated.yaml": "image: pipedeck.dev/unrelated:v1\n",
		"services/api/main.go":     "package main\n",
	})
	require.NoError(t, err)
	// Neither what is not committed nor what was committed later counts.
	require.NoError(t, os.WriteFile(filepath.Join(repository.Root, "services/api/main.go"), []byte("changed"), 0o600))

	images, err := repository.ImagesAtHead("pipedeck.dev")
	require.NoError(t, err)
	require.Equal(t, []string{"pipedeck.dev/services/api", "pipedeck.dev/web:v1", "pipedeck.dev/web:v2"}, images)

	dir := t.TempDir()
	require.NoError(t, repository.ExportHead(dir))
	content, err := os.ReadFile(filepath.Join(dir, "services/api/main.go"))
	require.NoError(t, err)
	require.Equal(t, "package main\n", string(content))
	require.NoDirExists(t, filepath.Join(dir, ".git"))
	require.Error(t, repository.ExportHead(dir), "nothing is overwritten")
}
