// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/checkout"
)

func FuzzKustomization(f *testing.F) {
	dir := f.TempDir()
	tree, err := checkout.Open(dir)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte("resources: [../base]\npatches: [{path: https://a}]\n"))
	f.Add([]byte("buildMetadata: {a: b}\nhelmCharts: [{name: web}]\n"))
	f.Add([]byte("BuildMetAdAtA: []"))
	f.Add([]byte("x: &a [*a]\n<<: *a\ntransformers: [\"path: |-\\n  https://a\"]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		at := filepath.Join(dir, "kustomization.yaml")
		d := &kustomizeDisk{tree: tree, root: at, rendered: map[string]*virtualFile{}}
		d.render = func(_ string, k *kustomization) error { k.remove("helmCharts"); return nil }
		completed, err := d.complete(at, data)
		if err != nil {
			return
		}
		var keys map[string]any
		if yaml.Unmarshal(completed, &keys) == nil && string(completed) != string(data) && !d.ownOrigins {
			var given []any
			for key, value := range keys {
				if list, ok := value.([]any); ok && strings.EqualFold(key, "buildMetadata") { // as kustomize reads it
					given = append(given, list...)
				}
			}
			require.Contains(t, given, "originAnnotations")
		}
	})
}
