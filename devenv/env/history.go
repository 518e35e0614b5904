// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/pipedeck/pipedeck/devenv/controlplane"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// continueHistory makes the history that was kept that of the repository. A repository that was moved goes on with its
// own. The history of another repository is not forgotten without the user's command: the environment does not start.
func continueHistory(o *Options, server *controlplane.Server, repository *workspace.Repository) error {
	kept := server.History()
	if kept.Deployments > 0 && kept.Repository != "" && kept.Repository != repository.Root {
		if !gone(kept.Repository) || !repository.HasAny(kept.Commits) {
			return &StartError{
				componentRepository,
				fmt.Errorf("environment %q holds the deployments of another repository: %s", o.Workspace.Name,
					kept.Repository),
				"choose another --name for " + repository.Root + "; or delete that environment with: pipedeck down" +
					o.Flags,
			}
		}
		o.Logger.Info("the repository was moved", "from", kept.Repository, "to", repository.Root)
		server.Moved(repository.Root)
	}
	server.Watching(repository.Root)
	return nil
}

// gone says whether nothing is left at the place of a repository.
func gone(root string) bool {
	_, err := os.Lstat(root)
	return errors.Is(err, fs.ErrNotExist)
}
