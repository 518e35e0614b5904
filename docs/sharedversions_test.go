// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
)

// A package is compiled once for pipedeck, the plugins and the embedded Kubernetes as long as it and all that it
// imports have one version in both modules. See docs/decisions/0029-shared-packages.md.
func TestTheEmbeddedKubernetesHasTheVersionsOfTheMainModule(t *testing.T) {
	t.Parallel()
	ours, embedded := versions(t, "."), versions(t, filepath.Join("devenv", "embeddedk8s"))
	shared := 0
	for module, version := range ours {
		other, both := embedded[module]
		if !both {
			continue
		}
		shared++
		require.Equal(t, version, other, "%s in go.mod and in devenv/embeddedk8s/go.mod", module)
	}
	require.Greater(t, shared, 50)
	require.Contains(t, embedded, "k8s.io/kubernetes")
}

// versions are those of the modules that a module requires, by path, after its replacements.
func versions(t *testing.T, folder string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", folder, "go.mod"))
	require.NoError(t, err)
	parsed, err := modfile.Parse("go.mod", text, nil)
	require.NoError(t, err)
	found := map[string]string{}
	for _, required := range parsed.Require {
		found[required.Mod.Path] = required.Mod.Version
	}
	for _, replaced := range parsed.Replace {
		if _, required := found[replaced.Old.Path]; required && replaced.New.Version != "" {
			found[replaced.Old.Path] = replaced.New.Version
		}
	}
	return found
}
