// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/pipedeck/pipedeck/devenv/gitobjects"
	"github.com/pipedeck/pipedeck/devenv/line"
)

// Repository is a Git repository on this machine that an environment watches.
type Repository struct {
	// ID is the id in the piped configuration of a user; empty for the repository of the environment.
	ID string
	// Root is the absolute path of the work tree.
	Root string
	// Branch is the branch that is checked out, and watched; DetachedBranch when none is.
	Branch string
	// Detached says that HEAD names a commit and no branch. Piped watches a repository of the environment then, in
	// which DetachedBranch follows HEAD.
	Detached bool
	// Head is the commit at its tip when the repository was opened.
	Head string
	// Applications are the application configuration files at Head, relative to Root.
	Applications []string
	// Skipped are application configuration files at Head that cannot be deployed: their paths are not UTF-8 text,
	// which is all that PipeCD's protocol has.
	Skipped []string
	// Manual are the names of the applications that neither a commit, drift nor a chain deploys. CheckApplications
	// fills it in.
	Manual []string
	// EditHint is a file worth editing first; empty for a user's own repository.
	EditHint string

	// Origin is the URL of the remote origin; empty for none.
	Origin string

	files map[string]gitobjects.Entry
	// lookalikes are files whose names are not those of application configurations, but look like them.
	lookalikes []string
	// labels are those of each application, by its file. CheckApplications fills it in.
	labels map[string]map[string]string
}

// DetachedBranch stands for the branch of a repository whose HEAD is detached.
const DetachedBranch = "detached"

// RepositoryError is a repository that cannot be watched as it is. Hint is a command or an action
// that changes that.
type RepositoryError struct {
	Path, Problem, Hint string
}

func (e *RepositoryError) Error() string { return fmt.Sprintf("%s %s", e.Path, e.Problem) }

// OpenRepository returns the repository that holds dir. A repository without a commit at HEAD gives a
// *RepositoryError.
func OpenRepository(dir string) (*Repository, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, &RepositoryError{dir, "is not a directory", "give the path of a Git repository"}
	}
	repo, err := gitobjects.Open(dir)
	if errors.Is(err, gitobjects.ErrNotExist) {
		if lost := lostHead(dir); lost != nil {
			return nil, lost
		}
		if gitobjects.IsBare(dir) {
			return nil, &RepositoryError{dir, "is a bare repository", "clone it and give the clone: git clone " + dir}
		}
		return nil, &RepositoryError{dir, "is not a Git repository", "create one: git -C " + dir + " init"}
	}
	if err != nil {
		return nil, unreadable(dir, err)
	}
	return describe(repo)
}

func describe(repo *gitobjects.Repository) (*Repository, error) {
	root := repo.Root
	found := &Repository{Root: root, Branch: DetachedBranch, Origin: repo.Origin(),
		files: map[string]gitobjects.Entry{}}
	head, err := repo.Reference(plumbing.HEAD)
	if err != nil {
		return nil, unreadable(root, fmt.Errorf("read HEAD: %w", err))
	}
	if found.Detached = head.Type() != plumbing.SymbolicReference; !found.Detached {
		found.Branch = head.Target().Short()
		head, err = repo.Resolve(head.Target())
	}
	if errors.Is(err, plumbing.ErrReferenceNotFound) {
		return nil, noCommits(repo, found.Branch)
	}
	if err != nil {
		return nil, unreadable(root, fmt.Errorf("read branch %s: %w", found.Branch, err))
	}
	found.Head = head.Hash().String()
	return found, found.listApplications(repo)
}

// At returns the repository as it is at a commit, which need not be checked out.
func (r *Repository) At(commit string) (*Repository, error) {
	repo, err := r.open()
	if err != nil {
		return nil, unreadable(r.Root, err)
	}
	at := &Repository{Root: r.Root, Branch: r.Branch, Detached: r.Detached, Head: commit, EditHint: r.EditHint,
		files: map[string]gitobjects.Entry{}}
	return at, at.listApplications(repo)
}

// Only returns the repository with those of its applications that keep reports true for, by their configuration files.
func (r *Repository) Only(keep func(file string) bool) *Repository {
	only := *r
	only.Applications = slices.DeleteFunc(slices.Clone(r.Applications), func(file string) bool { return !keep(file) })
	return &only
}

// ChangedSince returns the sorted paths of the files that differ between another commit and Head.
func (r *Repository) ChangedSince(commit string) ([]string, error) {
	repo, err := r.open()
	if err != nil {
		return nil, unreadable(r.Root, err)
	}
	files, err := repo.Changed(plumbing.NewHash(commit), plumbing.NewHash(r.Head))
	if err != nil {
		return nil, damaged(r.Root, fmt.Errorf("compare commits %s and %s: %w", line.Commit(commit),
			line.Commit(r.Head), err))
	}
	return files, nil
}

// noCommits is a repository whose checked out branch has no commits: it is new, or its branch was deleted.
func noCommits(repo *gitobjects.Repository, branch string) error {
	if others, err := repo.Branches(); err == nil && len(others) > 0 {
		return &RepositoryError{repo.Root, "has no branch " + branch + ", which is checked out",
			fmt.Sprintf("bring the branch back, here from %s: git -C %s branch %s %s", others[0], repo.Root, branch,
				others[0])}
	}
	return &RepositoryError{repo.Root, "has no commits on branch " + branch + " yet",
		"commit something: git -C " + repo.Root + " commit"}
}

// lostHead is the error of a repository at or above dir whose HEAD is missing: Git does not recognise it. It is nil
// when there is none.
func lostHead(dir string) error {
	for {
		at := filepath.Join(dir, ".git")
		if exists(filepath.Join(at, "objects")) && exists(filepath.Join(at, "refs")) &&
			!exists(filepath.Join(at, "HEAD")) {
			branch := "main"
			if branches, err := os.ReadDir(filepath.Join(at, "refs", "heads")); err == nil && len(branches) > 0 &&
				!exists(filepath.Join(at, "refs", "heads", branch)) {
				branch = branches[0].Name()
			}
			return &RepositoryError{dir, "is damaged: " + filepath.Join(at, "HEAD") + " is missing",
				fmt.Sprintf("create it, here for branch %s: echo 'ref: refs/heads/%s' > %s", branch, branch,
					filepath.Join(at, "HEAD"))}
		}
		above := filepath.Dir(dir)
		if above == dir {
			return nil
		}
		dir = above
	}
}

// IsApplicationConfig reports by its name whether a file configures an application (PipeCD v1:
// app.pipecd.yaml, *.pipecd.yaml, or the older .pipe.yaml).
func IsApplicationConfig(name string) bool {
	base := path.Base(name)
	return strings.HasSuffix(base, ".pipecd.yaml") || base == ".pipe.yaml"
}
