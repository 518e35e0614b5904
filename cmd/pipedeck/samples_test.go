// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	sampleapps "github.com/pipedeck/pipedeck/sample-apps"
)

func TestEverySampleIsReadWithoutAWarningAndHasItsManifests(t *testing.T) {
	t.Parallel()
	applications := map[string]string{}
	for _, sample := range sampleapps.All() {
		dir, files := t.TempDir(), map[string][]byte{}
		require.NoError(t, sample.Walk(func(name string, content []byte) error {
			files[name] = content
			file := filepath.Join(dir, filepath.FromSlash(name))
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
			return os.WriteFile(file, content, 0o644)
		}))
		require.Contains(t, files, sample.EditHint)
		require.NotEmpty(t, sample.Summary, sample.Name)
		require.Contains(t, files, "hello-world/main.go", "all run the same program, which a release holds once")
		found := 0
		for name, content := range files {
			if !workspace.IsApplicationConfig(name) {
				continue
			}
			found++
			app, err := config.ParseApplication(content, name)
			require.NoError(t, err)
			require.Empty(t, app.Warnings, name)
			require.NotEmpty(t, app.Description, name)
			require.Equal(t, sample.Name, app.Labels["sample"], name)
			require.Empty(t, applications[app.Name], "the name %s is taken", app.Name)
			applications[app.Name] = name
			if app.Pipeline != nil {
				for _, stage := range app.Pipeline.Stages {
					require.NotEmpty(t, stage.ID, "stage %s of %s is shown by its id", stage.Name, name)
					require.NotEmpty(t, stage.Desc, "stage %s of %s", stage.ID, name)
				}
			}
			if sample.Clusterless {
				require.Contains(t, files, path.Dir(name)+"/main.tf")
				continue
			}
			requireManifests(t, dir, path.Dir(name))
		}
		require.GreaterOrEqual(t, found, len(sample.Folders), sample.Name)
	}
}

// requireManifests demands that the folder of an application has manifests. Those of charts need a process of the
// plugin; the stories deploy them.
func requireManifests(t *testing.T, root, folder string) {
	t.Helper()
	dir := filepath.Join(root, folder)
	if _, err := os.Stat(filepath.Join(dir, "chart", "Chart.yaml")); err == nil {
		return
	}
	loaded, err := manifest.NewLoader().Load(t.Context(), manifest.Request{
		Dir: dir, Root: root, ConfigFile: "app.pipecd.yaml", Files: yamlFiles(t, dir),
	})
	require.NoError(t, err, folder)
	require.NotEmpty(t, loaded, folder)
}

// yamlFiles are the manifests in a directory, and nil for a kustomization. Of the files that only one of several
// clusters gets, it is one.
func yamlFiles(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		if name := entry.Name(); path.Ext(name) == ".yaml" && name != "app.pipecd.yaml" && name != "london.yaml" {
			names = append(names, name)
		}
	}
	return names
}

func TestSamplesCanBeInOneRepository(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, sample := range sampleapps.All() {
		require.NoError(t, sample.Walk(func(name string, content []byte) error {
			if before, there := files[name]; there {
				require.Equal(t, before, string(content), name)
			}
			files[name] = string(content)
			return nil
		}))
	}
}
