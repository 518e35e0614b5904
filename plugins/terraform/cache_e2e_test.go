// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"archive/zip"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

// providerVariable names a real provider, of OpenTofu's own tests; make e2e-terraform builds it.
const providerVariable = "PIPEDECK_TOFU_PROVIDER"

// mirror is a folder from which providers are installed, as packages.
type mirror struct{ dir string }

// add adds a version of the provider.
func (m mirror) add(t *testing.T, version string) {
	t.Helper()
	program := os.Getenv(providerVariable)
	require.NotEmpty(t, program, "%s is not set\nnext step: make e2e-platforms", providerVariable)
	content, err := os.ReadFile(program)
	require.NoError(t, err)
	dir := filepath.Join(m.dir, "registry.opentofu.org", "pipedeck", "simple")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	file, err := os.Create(filepath.Join(dir, fmt.Sprintf("terraform-provider-simple_%s_%s_%s.zip", version,
		runtime.GOOS, runtime.GOARCH)))
	require.NoError(t, err)
	archive := zip.NewWriter(file)
	header := &zip.FileHeader{Name: "terraform-provider-simple_v" + version}
	header.SetMode(0o755)
	entry, err := archive.CreateHeader(header)
	require.NoError(t, err)
	_, err = entry.Write(content)
	require.NoError(t, err)
	require.NoError(t, archive.Close())
	require.NoError(t, file.Close())
}

// withProvider is an application that uses a version of the provider.
func (w *world) withProvider(hash, version, settings string) *sdktest.Commit {
	return w.commit(hash, `{commandEnvs: {shared: ["TF_CLI_CONFIG_FILE=`+settings+`"]}}`, map[string]string{"main.tf": `
terraform {
  required_providers {
    simple = {
      source  = "pipedeck/simple"
      version = "` + version + `"
    }
  }
}
resource "simple_resource" "one" { value = "x" }
`})
}

func TestApplicationsShareOneCacheOfProviders(t *testing.T) {
	t.Parallel()
	w := start(t)
	m := mirror{filepath.Join(w.dir, "mirror")}
	m.add(t, "1.0.0")
	settings := filepath.Join(w.dir, "cli.tfrc")
	require.NoError(t, os.WriteFile(settings, []byte("provider_installation {\n  filesystem_mirror {\n    path = \""+
		m.dir+"\"\n  }\n}\n"), 0o600))

	// Both inits begin at the same time, in two plugins with one cache. Terraform needs that only one of them works.
	overlaps := filepath.Join(w.dir, "overlaps")
	program := filepath.Join(w.dir, "program")
	require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\nif [ \"$1\" = init ]; then\n"+
		"  mkdir "+w.dir+"/busy || echo overlap >> "+overlaps+"\n  sleep 0.2\n  "+tofu(t)+" \"$@\"; ended=$?\n"+
		"  rmdir "+w.dir+"/busy\n  exit $ended\nfi\nexec "+tofu(t)+" \"$@\"\n"), 0o700))
	w.options.Config = map[string]any{"binary": program, "workDir": w.dir}
	w = w.next()
	other := *w
	other.options.DeployTargets = []sdk.DeployTargetConfig{{Name: "there"}}
	other.Harness = sdktest.Start(t, sdk.ForDeployment(newPlugin()), other.options)
	first := sdktest.Change{Target: w.withProvider("1111111111", "1.0.0", settings)}
	var work sync.WaitGroup
	for _, one := range []*world{w, &other} {
		work.Go(func() {
			outcome, err := one.Run(t.Context(), sdktest.Execution{Stage: apply, Change: copied(t, first)})
			if err != nil || outcome.Status != succeeded {
				t.Errorf("%v %s: %s", err, outcome.Reason, one.log(apply))
			}
		})
	}
	work.Wait()
	require.NoFileExists(t, overlaps)
	cached := func(version string) string {
		return filepath.Join(w.dir, "providers", "registry.opentofu.org", "pipedeck", "simple", version)
	}
	require.DirExists(t, cached("1.0.0"))

	// A look initialises once; later ones need no mirror.
	w.livestate(first.Target)
	require.NoError(t, os.Rename(m.dir, m.dir+".gone"))
	w = w.next()
	require.Equal(t, sdk.Synced, w.livestate(first.Target).Sync.Status)
	require.NoError(t, os.Rename(m.dir+".gone", m.dir))

	// The next version goes next to the first one.
	m.add(t, "1.1.0")
	second := sdktest.Change{Running: first.Target, Target: w.withProvider("2222222222", "1.1.0", settings)}
	w = w.next()
	require.Equal(t, succeeded, w.run(apply, "", second).Status, w.log(apply))
	require.DirExists(t, cached("1.1.0"))
	require.DirExists(t, cached("1.0.0"))
	require.Equal(t, sdk.Synced, w.livestate(second.Target).Sync.Status)
}
