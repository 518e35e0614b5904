// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ownPackage is the package of a file with our services, service one of them, and serviceRow a row of the page.
var (
	ownPackage = regexp.MustCompile(`(?m)^package (pipedeck\.[a-z0-9.]+);$`)
	service    = regexp.MustCompile(`(?m)^service (\w+) \{$`)
	serviceRow = regexp.MustCompile("(?m)^\\| `(pipedeck\\.[A-Za-z0-9.]+)` \\|")
)

func TestThePageOfTheProtocolListsEachAddition(t *testing.T) {
	t.Parallel()
	var want, rows []string
	require.NoError(t, filepath.WalkDir(filepath.Join("..", "api"), func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".proto" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		of := ownPackage.FindSubmatch(text)
		// pipedeck and its helper are of one build: no one else speaks their protocol.
		if of == nil || strings.HasPrefix(string(of[1]), "pipedeck.helper.") {
			return nil
		}
		for _, name := range service.FindAllSubmatch(text, -1) {
			want = append(want, string(of[1])+"."+string(name[1]))
		}
		return nil
	}))
	page, err := os.ReadFile("protocol.md")
	require.NoError(t, err)
	for _, row := range serviceRow.FindAllSubmatch(page, -1) {
		rows = append(rows, string(row[1]))
	}
	slices.Sort(want)
	slices.Sort(rows)
	require.Equal(t, want, rows)
}
