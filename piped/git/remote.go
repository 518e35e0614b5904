// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/http"
	"github.com/go-git/go-git/v5/plumbing/transport/ssh"
)

// fetch brings the branch of a Git server into the mirror.
func (r *Repository) fetch(ctx context.Context) (plumbing.Hash, error) {
	auth, err := r.auth()
	if err != nil {
		return plumbing.ZeroHash, err
	}
	branch := plumbing.NewBranchReferenceName(r.options.Branch)
	remote := gogit.NewRemote(r.mirror, &config.RemoteConfig{Name: "origin", URLs: []string{r.options.Remote}})
	err = remote.FetchContext(ctx, &gogit.FetchOptions{
		RefSpecs: []config.RefSpec{config.RefSpec("+" + branch.String() + ":" + branch.String())},
		Auth:     auth,
		Tags:     gogit.NoTags,
		Force:    true,
	})
	if err != nil && !errors.Is(err, gogit.NoErrAlreadyUpToDate) {
		return plumbing.ZeroHash, r.fetchError(err)
	}
	ref, err := r.mirror.Reference(branch)
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("read branch %s of the mirror of repository %s: %w", r.options.Branch, r.options.ID, err)
	}
	return ref.Hash(), nil
}

func (r *Repository) auth() (transport.AuthMethod, error) {
	endpoint, err := transport.NewEndpoint(r.options.Remote)
	if err != nil {
		return nil, r.problem(ErrNotRepository, fmt.Sprintf("the remote cannot be read as a URL (%v)", err))
	}
	switch endpoint.Protocol {
	case "http", "https":
		if r.options.Password != "" {
			return &http.BasicAuth{Username: r.options.Username, Password: r.options.Password}, nil
		}
	case "ssh":
		if len(r.options.SSHKey) > 0 {
			user := endpoint.User
			if user == "" {
				user = "git"
			}
			key, err := ssh.NewPublicKeys(user, r.options.SSHKey, "")
			if err != nil {
				return nil, r.problem(ErrAuth, fmt.Sprintf("the ssh key cannot be read (%v): want an unencrypted private key in PEM", err))
			}
			return key, nil
		}
	}
	return nil, nil
}

func (r *Repository) fetchError(err error) error {
	var noMatch gogit.NoMatchingRefSpecError
	switch {
	case errors.As(err, &noMatch):
		return r.problem(ErrNoBranch, fmt.Sprintf("%s is missing: push it or name another branch in the piped configuration", r.options.Branch))
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return r.problem(ErrNoCommits, fmt.Sprintf("push the first one to branch %s", r.options.Branch))
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return r.problem(ErrNotRepository, "the server does not know it: check the remote and who may read it")
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed):
		return r.problem(ErrAuth, "set git.username and git.password, or git.sshKeyFile, in the piped configuration")
	}
	return fmt.Errorf("fetch branch %s of git repository %s: %w", r.options.Branch, withoutUser(r.options.Remote), err)
}

func (r *Repository) problem(reason error, hint string) error {
	return &RepositoryError{Remote: withoutUser(r.options.Remote), Reason: reason, Hint: hint}
}
