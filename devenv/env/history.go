// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// continueHistory makes the history that was kept that of the repository. A repository that was moved goes on with its
// own. The history of another repository is not forgotten without the user's command: the environment does not start.
func (e *Environment) continueHistory(repository *workspace.Repository) error {
	kept := e.server.History()
	if kept.Deployments > 0 && kept.Repository != "" && kept.Repository != repository.Root {
		if !moved(kept.Repository) || !repository.HasAny(kept.Commits) {
			return &StartError{
				componentRepository,
				fmt.Errorf("environment %q holds the deployments of another repository: %s", e.Workspace.Name,
					kept.Repository),
				"choose another --name for " + repository.Root + "; or delete that environment with: pipedeck down" + e.Flags,
			}
		}
		e.Logger.Info("the repository was moved", "from", kept.Repository, "to", repository.Root)
		e.server.Moved(repository.Root)
	}
	e.server.Watching(repository.Root)
	return nil
}

// moved says whether nothing is left at the place where the repository was.
func moved(root string) bool {
	_, err := os.Lstat(root)
	return errors.Is(err, fs.ErrNotExist)
}
