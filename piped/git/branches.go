// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// branches are the names of the branches, at most maxNames. Their files are not read: Git replaces and locks them while
// a user works, and what is left out would be reported as missing.
func (l *local) branches() []string {
	dir := filepath.Join(l.dir, "refs", "heads")
	var names []string
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, ".lock") {
			return nil // a race: Git has removed it just now
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			names = append(names, filepath.ToSlash(name))
		}
		return nil
	})
	packed, err := os.ReadFile(filepath.Join(l.dir, "packed-refs"))
	if err == nil {
		for line := range bytes.Lines(packed) {
			if _, name, ok := strings.Cut(strings.TrimSpace(string(line)), " refs/heads/"); ok {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == l.branch.Short() })
	return names[:min(len(names), maxNames)]
}
