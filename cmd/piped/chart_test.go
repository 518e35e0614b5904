// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/piped/configsource"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/helm"
)

type object map[string]any

// at returns what is at a path of an object.
func (o object) at(path ...string) any {
	var found any = o
	for _, name := range path {
		fields, ok := found.(object)
		if !ok {
			return nil
		}
		found = fields[name]
	}
	return found
}

// chart renders the chart with values and returns the objects by their kinds.
func chart(t *testing.T, values map[string]any) (map[string]object, error) {
	t.Helper()
	dir, err := filepath.Abs(".")
	require.NoError(t, err)
	tree, err := checkout.Open(dir)
	require.NoError(t, err)
	rendered, err := helm.New(helm.Sources{CacheDir: t.TempDir()}).Render(t.Context(), helm.Request{
		Tree: tree, Dir: dir, Path: "chart", ReleaseName: "agent", Namespace: "piped",
		Options: helm.Options{Values: values},
	})
	if err != nil {
		return nil, err
	}
	objects := map[string]object{}
	for _, file := range rendered.Files {
		for document := range strings.SplitSeq(string(file.Data), "\n---\n") {
			var o object
			require.NoError(t, yaml.Unmarshal([]byte(document), &o), document)
			if kind, ok := o["kind"].(string); ok {
				objects[kind] = o
			}
		}
	}
	return objects, nil
}

// TestTheChartStartsPipedWithItsConfiguration starts nothing: piped reads the flags and the configuration of the chart.
func TestTheChartStartsPipedWithItsConfiguration(t *testing.T) {
	t.Parallel()
	spec := map[string]any{
		"projectID": "project", "pipedID": "piped", "pipedKeyFile": "/etc/piped-secret/piped-key",
		"apiAddress": "control-plane:443",
		"repositories": []any{map[string]any{
			"repoId": "apps", "remote": "https://git.example.com/apps.git", "branch": "main",
		}},
		"plugins": []any{map[string]any{"name": "wait", "port": 7001, "url": "file:///plugins/wait"}},
	}
	objects, err := chart(t, map[string]any{
		"key": "secret-key", "args": []any{"--insecure"},
		"config": map[string]any{"apiVersion": "pipecd.dev/v1beta1", "kind": "Piped", "spec": spec},
	})
	require.NoError(t, err)
	require.Equal(t, "secret-key", objects["Secret"].at("stringData", "piped-key"))
	file := filepath.Join(t.TempDir(), "piped.yaml")
	config := objects["Secret"].at("stringData", "piped.yaml").(string)
	require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
	read, err := (&runFlags{source: configsource.Source{File: file}}).configuration(t.Context())
	require.NoError(t, err)
	require.Equal(t, "control-plane:443", read.APIAddress)

	containers := objects["Deployment"].at("spec", "template", "spec", "containers").([]any)
	var args []string
	for _, arg := range containers[0].(object).at("args").([]any) {
		args = append(args, arg.(string))
	}
	require.Contains(t, args, "--insecure")
	run := runCommand(&telemetryFlags{})
	require.NoError(t, run.ParseFlags(args[1:]), "piped knows the flags")
	require.Equal(t, "Recreate", objects["Deployment"].at("spec", "strategy", "type"))
	require.Equal(t, 1, objects["Deployment"].at("spec", "replicas"), "two pipeds would run every stage twice")
	for _, kind := range []string{"ServiceAccount", "ClusterRole", "ClusterRoleBinding"} {
		require.Contains(t, objects, kind)
	}
}

func TestTheChartAsksForWhatItNeeds(t *testing.T) {
	t.Parallel()
	_, err := chart(t, nil)
	require.ErrorContains(t, err, "existingSecret")
	objects, err := chart(t, map[string]any{
		"existingSecret": "mine", "rbac": map[string]any{"create": false}, "storage": map[string]any{"claim": "disk"},
	})
	require.NoError(t, err)
	require.NotContains(t, objects, "Secret")
	require.NotContains(t, objects, "ClusterRole")
	volumes := objects["Deployment"].at("spec", "template", "spec", "volumes").([]any)
	require.True(t, slices.ContainsFunc(volumes, func(v any) bool {
		return v.(object).at("secret", "secretName") == "mine"
	}))
	require.True(t, slices.ContainsFunc(volumes, func(v any) bool {
		return v.(object).at("persistentVolumeClaim", "claimName") == "disk"
	}))
}
