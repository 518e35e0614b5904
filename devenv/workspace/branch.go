// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/pipedeck/pipedeck/devenv/gitobjects"
)

// OpenBranch returns a repository as it is at the tip of a branch, whatever is checked out. dir is the repository
// itself, which may have no work tree. A repository that cannot be read, or has no such branch, gives a
// *RepositoryError.
func OpenBranch(dir, branch string) (*Repository, error) {
	repo, err := openAt(dir)
	if errors.Is(err, gitobjects.ErrNotExist) {
		return nil, &RepositoryError{dir, "is not a Git repository", "give the path of a Git repository"}
	}
	if err != nil {
		return nil, unreadable(dir, err)
	}
	tip, err := repo.Resolve(plumbing.NewBranchReferenceName(branch))
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		hint := "commit something to it"
		if names, err := repo.Branches(); err == nil && len(names) > 0 {
			hint = "choose one of: " + strings.Join(names, ", ")
		}
		return nil, &RepositoryError{dir, "has no branch " + branch, hint}
	}
	if err != nil {
		return nil, unreadable(dir, fmt.Errorf("read branch %s: %w", branch, err))
	}
	found := &Repository{Root: repo.Root, Branch: branch, Head: tip.Hash().String(), Origin: repo.Origin(),
		files: map[string]gitobjects.Entry{}}
	return found, found.listApplications(repo)
}

// openAt opens a repository that dir is itself.
func openAt(dir string) (*gitobjects.Repository, error) {
	if exists(filepath.Join(dir, ".git")) {
		return gitobjects.Open(dir)
	}
	return gitobjects.OpenBare(dir)
}

// open opens the repository again.
func (r *Repository) open() (*gitobjects.Repository, error) { return openAt(r.Root) }

// Select leaves out the applications that piped does not register because they lack one of the labels.
// CheckApplications has read them.
func (r *Repository) Select(labels map[string]string) {
	if len(labels) == 0 {
		return
	}
	var selected []string
	for _, name := range r.Applications {
		if has(r.labels[name], labels) {
			selected = append(selected, name)
		}
	}
	r.Applications = selected
}

func has(labels, wanted map[string]string) bool {
	for key, value := range wanted {
		if labels[key] != value {
			return false
		}
	}
	return true
}
