// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/gitobjects"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/text"
)

// maxNamedWork bounds the files and branches that a line names.
const maxNamedWork = 5

// nameSampleWork prints what of the user is deleted with the sample repository: files that are not committed, and
// branches besides the first one. It says nothing of a repository that cannot be read.
func nameSampleWork(ctx context.Context, w *workspace.Workspace, out io.Writer) {
	repo, err := gitobjects.Open(w.SampleRepository())
	if err != nil {
		return
	}
	branches, _ := repo.Branches()
	branches = slices.DeleteFunc(branches, func(name string) bool { return name == "main" })
	files := uncommitted(ctx, repo.Root)
	for what, names := range map[string][]string{"uncommitted file": files, "branch": branches} {
		if len(names) == 0 {
			continue
		}
		slices.Sort(names)
		shown := strings.Join(names[:min(len(names), maxNamedWork)], ", ")
		if len(names) > maxNamedWork {
			shown += ", …"
		}
		count := line.Count(len(names), what)
		if what == "branch" && len(names) > 1 {
			count = fmt.Sprintf("%d branches", len(names))
		}
		fmt.Fprintln(out, text.Clean(fmt.Sprintf("deleting %s of yours in the sample repository: %s", count, shown)))
	}
}

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
