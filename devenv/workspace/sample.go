// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/pipedeck/pipedeck/system/owned"
)

// Sample is what EnsureSample makes a repository from.
type Sample interface {
	// Walk calls fn with every file by its slash-separated path in the repository.
	Walk(fn func(name string, content []byte) error) error
}

// EnsureSample returns the environment's sample repository. It is created on first use with one commit on branch main
// and is on the disk then; afterwards it belongs to the user and is left as it is.
func (w *Workspace) EnsureSample(samples ...Sample) (*Repository, error) {
	dir := w.SampleRepository()
	if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
		return OpenRepository(dir)
	}
	// It gets its name when it is complete and on the disk, so that an interrupted start or a power cut leaves no half
	// of it: nothing could create it again with the commits that deployments refer to.
	draft := dir + ".new"
	if err := RemoveTree(draft); err != nil {
		return nil, err
	}
	err := createSample(draft, samples)
	if err == nil {
		err = owned.SyncTree(draft)
	}
	if err != nil {
		return nil, fmt.Errorf("create the sample repository: %w", errors.Join(err, RemoveTree(draft)))
	}
	if err := errors.Join(os.Rename(draft, dir), owned.SyncDirectory(filepath.Dir(dir))); err != nil {
		return nil, fmt.Errorf("create the sample repository: %w", err)
	}
	return OpenRepository(dir)
}

// LossOf names what is deleted with an environment, for a user who decides whether to end it.
func LossOf(w *Workspace) string {
	if _, err := os.Lstat(w.SampleRepository()); err == nil {
		return "its clusters, its history and its sample repository with your commits"
	}
	return "its clusters and its history"
}

// sampleSign is a file that distinguishes the sample repository from one of the user's at the same place.
const sampleSign = ".git/pipedeck-sample"

func createSample(dir string, samples []Sample) error {
	repo, err := git.PlainInitWithOptions(dir, &git.PlainInitOptions{
		InitOptions: git.InitOptions{DefaultBranch: plumbing.NewBranchReferenceName("main")},
	})
	if err != nil {
		return err
	}
	sign := []byte("Created by pipedeck, which removes this repository with its environment.\n")
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(sampleSign)), sign, 0o600); err != nil {
		return err
	}
	if err := takePushes(repo); err != nil {
		return err
	}
	tree, err := repo.Worktree()
	if err != nil {
		return err
	}
	for _, sample := range samples {
		err := sample.Walk(func(name string, content []byte) error {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(file, content, 0o644); err != nil {
				return err
			}
			_, err := tree.Add(name)
			return err
		})
		if err != nil {
			return err
		}
	}
	_, err = tree.Commit("Start from the sample applications", &git.CommitOptions{
		Author: &object.Signature{Name: "pipedeck", Email: "pipedeck@localhost", When: time.Now()},
	})
	return err
}

// takePushes lets the event watcher push to the branch, which is checked out: Git then updates the working tree, unless
// something in it is not committed.
func takePushes(repo *git.Repository) error {
	config, err := repo.Config()
	if err != nil {
		return err
	}
	config.Raw.Section("receive").SetOption("denyCurrentBranch", "updateInstead")
	return repo.SetConfig(config)
}
