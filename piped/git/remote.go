// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

const (
	// fetchTimeout bounds one fetch: a server that falls silent must not hold up the repository for ever.
	fetchTimeout = 10 * time.Minute
	// all is the depth of a whole history.
	all = math.MaxInt32
	// maxNames bounds the branches that a message names.
	maxNames = 10
)

// ask asks a Git server where the branch is. The mirror stays usable meanwhile.
func (r *Repository) ask(ctx context.Context) (plumbing.Hash, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	url, auth, err := r.access()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	advertised, err := r.remote(url).ListContext(ctx, &gogit.ListOptions{Auth: auth})
	if err != nil {
		return plumbing.ZeroHash, r.fetchError(err)
	}
	return r.pick(advertised, plumbing.NewBranchReferenceName(r.options.Branch))
}

// fetch brings the newest commit of the branch of a Git server into the mirror, without its history, unless
// the mirror has the commit that the server has named.
func (r *Repository) fetch(ctx context.Context, named plumbing.Hash) (plumbing.Hash, error) {
	if r.mirror.HasEncodedObject(named) == nil {
		return named, nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	url, auth, err := r.access()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	branch := plumbing.NewBranchReferenceName(r.options.Branch)
	remote := r.remote(url)
	spec := config.RefSpec("+" + branch.String() + ":" + branch.String())
	if err := r.fetchRefs(ctx, remote, auth, spec, 1); err != nil {
		return plumbing.ZeroHash, r.fetchError(err)
	}
	ref, err := r.mirror.Reference(branch)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read branch %s of the mirror of repository %s: %w", r.options.Branch, r.options.ID, err)
	}
	return ref.Hash(), nil
}

// fetchCommit brings a commit into the mirror that the branch has left behind: by its name where the server
// allows that, else with all of the branch. The error is plumbing.ErrObjectNotFound when the server does not
// have it.
func (r *Repository) fetchCommit(ctx context.Context, id plumbing.Hash) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	url, auth, err := r.access()
	if err != nil {
		return err
	}
	remote := r.remote(url)
	kept := "refs/pipedeck/fetched"
	byName := r.fetchRefs(ctx, remote, auth, config.RefSpec(id.String()+":"+kept), 1)
	if r.mirror.HasEncodedObject(id) == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	branch := plumbing.NewBranchReferenceName(r.options.Branch)
	err = r.fetchRefs(ctx, remote, auth, config.RefSpec("+"+branch.String()+":"+branch.String()), all)
	if r.mirror.HasEncodedObject(id) == nil {
		return nil
	}
	if err != nil {
		return r.fetchError(err)
	}
	r.logger.Debug("the server does not give a commit by its name", "commit", id, "error", byName)
	return plumbing.ErrObjectNotFound
}

func (r *Repository) remote(url string) *gogit.Remote {
	return gogit.NewRemote(r.mirror, &config.RemoteConfig{Name: "origin", URLs: []string{url}})
}

func (r *Repository) fetchRefs(ctx context.Context, remote *gogit.Remote, auth transport.AuthMethod, spec config.RefSpec, depth int) error {
	err := remote.FetchContext(ctx, &gogit.FetchOptions{RefSpecs: []config.RefSpec{spec}, Auth: auth, Tags: gogit.NoTags, Force: true, Depth: depth})
	if errors.Is(err, gogit.NoErrAlreadyUpToDate) {
		return nil
	}
	return err
}

// pick finds the branch among what a server has.
func (r *Repository) pick(advertised []*plumbing.Reference, branch plumbing.ReferenceName) (plumbing.Hash, error) {
	var names []string
	for _, ref := range advertised {
		if ref.Name() == branch {
			return ref.Hash(), nil
		}
		if ref.Name().IsBranch() && len(names) < maxNames {
			names = append(names, ref.Name().Short())
		}
	}
	if len(names) == 0 {
		return plumbing.ZeroHash, r.fetchError(transport.ErrEmptyRemoteRepository)
	}
	return plumbing.ZeroHash, r.problem(ErrNoBranch, fmt.Sprintf("%s is missing, there is %s: push it or name another branch in the piped configuration", r.options.Branch, strings.Join(names, ", ")))
}

func (r *Repository) fetchError(err error) error {
	if problem := r.accessProblem(err); problem != nil {
		return problem
	}
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return r.problem(ErrNoCommits, fmt.Sprintf("push the first one to branch %s", r.options.Branch))
	}
	return fmt.Errorf("fetch branch %s of git repository %s: %w", r.options.Branch, WithoutCredentials(r.options.Remote), err)
}

func (r *Repository) problem(reason error, hint string) error {
	return &RepositoryError{Remote: WithoutCredentials(r.options.Remote), Reason: reason, Hint: hint}
}
