// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/line"
)

// maxNamedWork bounds the files and branches that a line names.
const maxNamedWork = 5

// uncommitted returns the files that differ from the last commit; none on a machine without Git, where no one commits.
func uncommitted(ctx context.Context, root string) (files []string) {
	out, err := gitNextTo(ctx, filepath.Join(root, ".git"), "status", "--porcelain", "-z", "--no-renames",
		"--untracked-files=all")
	if err != nil {
		return nil
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		if len(entry) > len("XY ") { // two letters for the state of the file
			files = append(files, entry[len("XY "):])
		}
	}
	return files
}

// firstNames lists the first names of many.
func firstNames(names []string) string {
	slices.Sort(names)
	shown := strings.Join(names[:min(len(names), maxNamedWork)], ", ")
	if len(names) > maxNamedWork {
		shown += ", \u2026"
	}
	return shown
}

// uncommittedNote says which files of a repository are not deployed because no commit has them; empty for none.
func uncommittedNote(ctx context.Context, root string) string {
	files := uncommitted(ctx, root)
	if len(files) == 0 {
		return ""
	}
	return fmt.Sprintf("not deployed, because HEAD does not have it: %s: %s",
		line.Count(len(files), "uncommitted file"), firstNames(files))
}
