// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"io/fs"
	"path/filepath"
	"strings"
)

// All returns the paths of all pages below the root of the repository, in lexical order. Folders of builds and caches
// have none, and those of testdata are inputs of tests.
func All(root string) ([]string, error) {
	var pages []string
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != root && apart(entry.Name()):
			return filepath.SkipDir
		case !entry.IsDir() && strings.HasSuffix(entry.Name(), ".md"):
			pages = append(pages, path)
		}
		return nil
	})
	return pages, err
}

func apart(folder string) bool {
	return strings.HasPrefix(folder, ".") || folder == "testdata" || folder == "bin" || folder == "dist"
}
