// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	sampleapps "github.com/pipedeck/pipedeck/sample-apps"
)

func TestEverySampleIsReadWithoutAWarningAndHasItsManifests(t *testing.T) {
	t.Parallel()
	for _, sample := range sampleapps.All() {
		files := map[string][]byte{}
		require.NoError(t, sample.Walk(func(name string, content []byte) error {
			files[name] = content
			return nil
		}))
		require.Contains(t, files, sample.EditHint)
		applications := map[string]bool{}
		for name, content := range files {
			if !workspace.IsApplicationConfig(name) {
				continue
			}
			app, err := config.ParseApplication(content, name)
			require.NoError(t, err)
			require.Empty(t, app.Warnings, name)
			require.False(t, applications[app.Name], "the name %s is taken", app.Name)
			applications[app.Name] = true
			if app.Pipeline != nil {
				for _, stage := range app.Pipeline.Stages {
					require.NotEmpty(t, stage.ID, "stage %s of %s is shown by its id", stage.Name, name)
				}
			}
			kinds := map[string]bool{}
			for _, file := range []string{"deployment.yaml", "service.yaml"} {
				file = path.Join(path.Dir(name), file)
				manifests, err := manifest.Parse(files[file], file)
				require.NoError(t, err)
				for _, m := range manifests {
					kinds[m.GetKind()] = true
				}
			}
			require.True(t, kinds["Deployment"] && kinds["Service"], "%s deploys %v", name, kinds)
		}
		require.Len(t, applications, len(sample.Folders), sample.Name)
	}
}
