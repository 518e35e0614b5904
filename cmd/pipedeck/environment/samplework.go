// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/pipedeck/pipedeck/devenv/gitobjects"
	"github.com/pipedeck/pipedeck/devenv/line"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/tui/text"
)

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
		count := line.Count(len(names), what)
		if what == "branch" && len(names) > 1 {
			count = fmt.Sprintf("%d branches", len(names))
		}
		fmt.Fprintln(out, text.Clean(fmt.Sprintf("deleting %s of yours in the sample repository: %s", count,
			firstNames(names))))
	}
}
