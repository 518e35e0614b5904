// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package keymap_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/keymap"
)

func TestThePageAboutKeysIsThatOfTheCode(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/keys.md")
	require.NoError(t, err)
	require.True(t, keymap.Default().Page() == string(page), "docs/keys.md is stale: run make generate")
}

func TestThePageNamesEveryKeyOfEveryBinding(t *testing.T) {
	t.Parallel()
	page := keymap.Default().Page()
	for _, binding := range keymap.Default() {
		for _, key := range binding.Keys {
			require.Contains(t, page, "`"+key+"`")
		}
		require.Contains(t, page, binding.Help)
	}
}

func TestTheExampleOfAKeyFileOnThePageIsOne(t *testing.T) {
	t.Parallel()
	_, rest, found := strings.Cut(keymap.Default().Page(), "```yaml keys.yaml\n")
	require.True(t, found)
	example, _, _ := strings.Cut(rest, "```")
	file := keymap.Parse([]byte(example), "keys.yaml")
	require.Empty(t, file.Mistakes)
	require.True(t, file.NeverAsk)
	require.Equal(t, keymap.Sync, means(file.Map, keymap.Log, "ctrl+s"))
}
