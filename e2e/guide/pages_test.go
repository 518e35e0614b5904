// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package guide

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/docs/page"
)

// sharing are the pages whose environment is good enough for the next one: starting one for each would double the time
// of the story. Each of them can still be followed alone.
var sharing = []string{
	"docs/embedded-kubernetes.md", "docs/event-watcher.md", "docs/git.md", "docs/json.md", "docs/kubernetes.md",
	"docs/metrics.md", "docs/notifications.md", "docs/piped.md", "docs/plan-preview.md", "docs/plugin-calls.md",
	"docs/plugins.md",
	"docs/secrets.md", "docs/themes.md",
}

func TestTheCommandsOfEveryPageDoWhatThePageSays(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	paths, err := page.All(root)
	require.NoError(t, err)
	shared := newVisitor(t)
	for _, path := range paths {
		blocks, err := page.Read(path)
		require.NoError(t, err)
		name, err := filepath.Rel(root, path)
		require.NoError(t, err)
		if name == authors || !slices.ContainsFunc(blocks, page.Block.IsRun) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			v := shared
			if !slices.Contains(sharing, name) {
				v = newVisitor(t)
			}
			v.follow(t, blocks)
		})
	}
}

// difference says where what was printed is not what a page shows.
func (v *visitor) difference(b page.Block, printed string) string {
	return dissimilar(b.Text, strings.ReplaceAll(printed, v.home, "/home/you"))
}

// compareLater waits until a terminal shows what the page shows.
func (v *visitor) compareLater(t *testing.T, b page.Block, printed func() string) {
	t.Helper()
	await(t, patience, func() string {
		if difference := v.difference(b, printed()); difference != "" {
			return b.Place() + ": " + difference
		}
		return ""
	})
}
