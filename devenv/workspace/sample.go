// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/pipedeck/pipedeck/devenv/gitobjects"
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
	// The event watcher pushes to the branch, which is checked out.
	repository, err := gitobjects.Create(dir, "main")
	if err != nil {
		return err
	}
	sign := []byte("Created by pipedeck, which removes this repository with its environment.\n")
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(sampleSign)), sign, 0o600); err != nil {
		return err
	}
	for _, sample := range samples {
		if err := sample.Walk(repository.Add); err != nil {
			return err
		}
	}
	return repository.Commit("pipedeck", "pipedeck@localhost", "Start from the sample applications", time.Now())
}
