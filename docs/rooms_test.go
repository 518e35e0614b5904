// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// inCode is what a page shows as code; inParentheses a folder that the picture of the architecture names.
var (
	inCode        = regexp.MustCompile("`([^`]+)`")
	inParentheses = regexp.MustCompile(`\(((?:devenv|piped|plugins|tui)[a-z/]*)\)`)
)

// TestEachRoomListsItsPackages keeps the map of a room complete: no package is missing, and none is named that is gone.
func TestEachRoomListsItsPackages(t *testing.T) {
	t.Parallel()
	for _, room := range []string{"piped", "devenv", "tui", "plugins", "system", "e2e", "sample-apps", "cmd", "tools"} {
		page, err := os.ReadFile(filepath.Join("..", room, "README.md"))
		require.NoError(t, err)
		named := map[string]bool{}
		for line := range strings.Lines(string(page)) {
			first, _, isRow := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
			if !isRow || !strings.HasPrefix(line, "| ") {
				continue
			}
			for _, name := range inCode.FindAllStringSubmatch(first, -1) {
				named[strings.TrimSuffix(name[1], "/")] = true
				if !strings.Contains(name[1], "*") {
					_, err := os.Stat(filepath.Join("..", room, name[1]))
					require.NoError(t, err, "%s/README.md", room)
				}
			}
		}
		folders, err := os.ReadDir(filepath.Join("..", room))
		require.NoError(t, err)
		for _, folder := range folders {
			if folder.IsDir() {
				require.True(t, named[folder.Name()], "%s/README.md does not name %s", room, folder.Name())
			}
		}
	}
}

func TestThePictureOfTheArchitectureNamesFoldersThatExist(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("architecture.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "```text\n")
	require.True(t, found)
	picture, _, found := strings.Cut(rest, "```\n")
	require.True(t, found)
	folders := inParentheses.FindAllStringSubmatch(picture, -1)
	require.Greater(t, len(folders), 4)
	for _, folder := range folders {
		require.DirExists(t, filepath.Join("..", folder[1]))
	}
	for _, service := range []string{"deckapi", "publicapi", "pipedapi"} {
		require.Contains(t, picture, service)
		require.DirExists(t, filepath.Join("../devenv/controlplane", service))
	}
}
