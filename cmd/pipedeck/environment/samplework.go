// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"

	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/text"
)

// maxNamedWork bounds the files and branches that a line names.
const maxNamedWork = 5

// nameSampleWork prints what of the user is deleted with the sample repository: files that are not committed, and
// branches besides the first one. It says nothing of a repository that cannot be read.
func nameSampleWork(w *workspace.Workspace, out io.Writer) {
	repo, err := git.PlainOpen(w.SampleRepository())
	if err != nil {
		return
	}
	var files, branches []string
	if tree, err := repo.Worktree(); err == nil {
		if status, err := tree.Status(); err == nil {
			for name := range status {
				files = append(files, name)
			}
		}
	}
	if found, err := repo.Branches(); err == nil {
		_ = found.ForEach(func(ref *plumbing.Reference) error {
			if name := ref.Name().Short(); name != "main" {
				branches = append(branches, name)
			}
			return nil
		})
	}
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
