// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// historyRef is where a commit stands that was fetched by its name.
const historyRef = "refs/pipedeck/head"

func (r *Repository) fetchedHistory(ctx context.Context, base, head plumbing.Hash, headBranch string) (*objects, error) {
	dir := r.options.Dir + ".history"
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the directory for the history of repository %s: %w", r.options.ID, err)
	}
	storage := newStorage(dir, "objects")
	if _, err := os.Stat(filepath.Join(dir, "HEAD")); err != nil {
		if _, err := gogit.Init(storage, nil); err != nil && !errors.Is(err, gogit.ErrRepositoryAlreadyExists) {
			return nil, fmt.Errorf("make the directory for the history of repository %s: %w", r.options.ID, err)
		}
	}
	from := &objects{EncodedObjectStorer: storage}
	missing := func() bool { return from.HasEncodedObject(base) != nil || from.HasEncodedObject(head) != nil }
	if !missing() {
		return from, nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	url, auth, err := r.access()
	if err != nil {
		return nil, err
	}
	remote := gogit.NewRemote(storage, &config.RemoteConfig{Name: "origin", URLs: []string{url}})
	specs := []config.RefSpec{branchSpec(r.options.Branch)}
	if headBranch != "" && headBranch != r.options.Branch && plumbing.NewBranchReferenceName(headBranch).Validate() == nil {
		specs = append(specs, branchSpec(headBranch))
	}
	for _, spec := range append(specs, config.RefSpec(head.String()+":"+historyRef)) {
		if !missing() {
			break
		}
		err = r.fetchRefs(ctx, remote, auth, spec, 0)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil && !isMissing(err) && spec == specs[0] {
			return nil, r.fetchError(err)
		}
	}
	for _, id := range []plumbing.Hash{base, head} {
		if from.HasEncodedObject(id) != nil {
			return nil, r.noCommit(id.String())
		}
	}
	return from, nil
}

func branchSpec(branch string) config.RefSpec {
	name := plumbing.NewBranchReferenceName(branch).String()
	return config.RefSpec("+" + name + ":" + name)
}

// isMissing tells of answers of a server that other branches may make up for.
func isMissing(err error) bool {
	return errors.As(err, &gogit.NoMatchingRefSpecError{}) || errors.Is(err, transport.ErrEmptyRemoteRepository)
}
