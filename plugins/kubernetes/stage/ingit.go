// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"fmt"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// inGitKey is where piped looks for the application at the head of the branch whenever it is asked, and answers with
// that commit. PipeCD's piped does not.
const inGitKey sdk.SharedKey[sdk.Text] = "pipedeck/in-git"

// checkGone returns an error when the application is in Git again: since the stage began a commit may have brought it
// back, and nothing brings its data back.
func checkGone(ctx context.Context, req *Request) error {
	commit, back, err := inGitKey.Get(ctx, req.Client)
	switch {
	case err != nil:
		return removed(req, "look whether the application is in Git again, so nothing was deleted: %w", err)
	case back:
		return fmt.Errorf("%s is in Git again at commit %s, so that nothing of it is deleted",
			req.Deployment.Application.Name, short(string(commit)))
	}
	return nil
}
