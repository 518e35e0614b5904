// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package guide

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/docs/page"
)

func TestTheCommandsOfEveryPageDoWhatThePageSays(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	paths, err := page.All(root)
	require.NoError(t, err)
	for _, path := range paths {
		blocks, err := page.Read(path)
		require.NoError(t, err)
		name, err := filepath.Rel(root, path)
		require.NoError(t, err)
		isRun := func(b page.Block) bool {
			return b.Language == "sh" && strings.HasPrefix(b.Mark, page.Run) && b.RunBy() == ""
		}
		if name == authors || !slices.ContainsFunc(blocks, isRun) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			newVisitor(t).follow(t, blocks)
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

// await asks until nothing is missing any more.
func await(t *testing.T, patience time.Duration, missing func() string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		what := missing()
		if what == "" {
			return
		}
		require.True(t, time.Now().Before(end), what)
	}
}
