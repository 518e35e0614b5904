// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func application(t *testing.T) *config.Application {
	t.Helper()
	app := &config.Application{}
	require.NoError(t, app.Validate())
	return app
}

func manifests(t *testing.T) []manifest.Manifest { return load(t, "app") }

func load(t *testing.T, dir string) []manifest.Manifest {
	t.Helper()
	all, err := manifest.NewLoader().Load(t.Context(), manifest.Request{Dir: filepath.Join("testdata", dir)})
	require.NoError(t, err)
	return all
}

// golden compares the manifests with a file.
func golden(t *testing.T, name string, got []manifest.Manifest) {
	t.Helper()
	var text bytes.Buffer
	for _, m := range got {
		written, err := manifest.Text(m.Object)
		require.NoError(t, err)
		text.WriteString("---\n" + written)
	}
	path := filepath.Join("testdata", name+".golden.yaml")
	if *update {
		require.NoError(t, os.WriteFile(path, text.Bytes(), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), text.String())
}

func TestTheVariantsLookAsInTheGoldenFiles(t *testing.T) {
	t.Parallel()
	half := &config.Replicas{Number: 50, Percent: true}
	tests := map[string]func(*testing.T, []manifest.Manifest) ([]manifest.Manifest, error){
		"primary": func(t *testing.T, m []manifest.Manifest) ([]manifest.Manifest, error) {
			return variant.Primary(m, application(t), config.PrimaryOptions{})
		},
		"primary-selector-service": func(t *testing.T, m []manifest.Manifest) ([]manifest.Manifest, error) {
			return variant.Primary(m, application(t), config.PrimaryOptions{Suffix: "primary", CreateService: true,
				AddVariantLabelToSelector: true})
		},
		"canary": func(t *testing.T, m []manifest.Manifest) ([]manifest.Manifest, error) {
			return variant.Canary(m, application(t), config.CanaryOptions{Suffix: "canary"})
		},
		"canary-half-service-patch": func(t *testing.T, m []manifest.Manifest) ([]manifest.Manifest, error) {
			return variant.Canary(m, application(t), config.CanaryOptions{Suffix: "c", Replicas: half,
				CreateService: true, Patches: []config.Patch{{
					Target: config.PatchTarget{Reference: config.Reference{Kind: "Deployment", Name: "web"}},
					Ops:    []config.PatchOp{{Path: "$.spec.template.spec.containers[0].image", Value: "app:patched"}},
				}}})
		},
		"baseline": func(t *testing.T, m []manifest.Manifest) ([]manifest.Manifest, error) {
			app := application(t)
			return variant.Baseline(m, app, app.VariantLabel,
				config.BaselineOptions{Suffix: "baseline", Replicas: half, CreateService: true})
		},
	}
	for name, make := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := manifests(t)
			got, err := make(t, all)
			require.NoError(t, err)
			golden(t, name, got)
			require.Equal(t, manifests(t), all, "what is given stays as it is")
		})
	}
}

func TestACanaryAndABaselineHaveNoHooks(t *testing.T) {
	t.Parallel()
	hooks, err := manifest.Parse([]byte("apiVersion: v1\nkind: ConfigMap\n"+
		"metadata: {name: input, annotations: {helm.sh/hook: pre-install}}\n---\napiVersion: apps/v1\n"+
		"kind: Deployment\nmetadata: {name: proxy, annotations: {argocd.argoproj.io/hook: PreSync}}\n"), "hooks.yaml")
	require.NoError(t, err)
	app, all := application(t), append(manifests(t), hooks...)
	canary, err := variant.Canary(all, app, config.CanaryOptions{Suffix: "canary"})
	require.NoError(t, err)
	baseline, err := variant.Baseline(all, app, app.VariantLabel, config.BaselineOptions{Suffix: "baseline"})
	require.NoError(t, err)
	require.NotEmpty(t, baseline)
	for _, m := range append(canary, baseline...) {
		require.NotContains(t, m.GetName(), "input")
		require.NotContains(t, m.GetName(), "proxy")
	}
}

func TestWhatCannotCarryAVariantIsAnError(t *testing.T) {
	t.Parallel()
	parse := func(text string) []manifest.Manifest {
		m, err := manifest.Parse([]byte(text), "a.yaml")
		require.NoError(t, err)
		return m
	}
	job := "apiVersion: batch/v1\nkind: Job\nmetadata: {name: once}\nspec: {}\n"
	app := application(t)
	_, err := variant.Canary(parse(job), app, config.CanaryOptions{})
	require.ErrorContains(t, err, "no Deployment to make a canary of")
	app.Workloads = []config.Reference{{Kind: "Job", Name: "once"}}
	_, err = variant.Canary(parse(job), app, config.CanaryOptions{})
	require.ErrorContains(t, err, "a.yaml:1: Job once cannot have a canary: only Deployments and StatefulSets can")
	_, err = variant.Baseline(parse(job), app, app.VariantLabel, config.BaselineOptions{})
	require.ErrorContains(t, err, "a.yaml:1: Job once cannot have a baseline")
	_, err = variant.Primary(parse(job), app, config.PrimaryOptions{CreateService: true})
	require.ErrorContains(t, err, "there is no Service")
	app.Workloads = []config.Reference{{Kind: "DaemonSet"}}
	_, err = variant.Canary(load(t, "stateful"), app, config.CanaryOptions{})
	require.ErrorContains(t, err, "all.yaml:40: DaemonSet agent cannot have a canary: a DaemonSet runs on every node")
}

func TestAStatefulSetHasVariantsWithTheirNamesAndVolumes(t *testing.T) {
	t.Parallel()
	app := application(t)
	app.Workloads = []config.Reference{{Kind: "StatefulSet", Name: "db"}}
	app.Service.Name = "db-peers"
	canary, err := variant.Canary(load(t, "stateful"), app, config.CanaryOptions{Suffix: "canary", CreateService: true})
	require.NoError(t, err)
	golden(t, "stateful-canary", canary)
	app.Service.Name = "db"
	baseline, err := variant.Baseline(load(t, "stateful"), app, app.VariantLabel,
		config.BaselineOptions{Suffix: "baseline", CreateService: true})
	require.NoError(t, err)
	golden(t, "stateful-baseline", baseline)
}
