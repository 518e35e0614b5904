// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/pipedeck/pipedeck/piped/git/address"
)

const (
	// fetchTimeout bounds one fetch, however steadily the server sends. A server that falls silent is given up after
	// idleTimeout.
	fetchTimeout = time.Hour
	// maxNames bounds the branches that a message names.
	maxNames = 10
)

// remote is the repository that is mirrored: how to reach it and to log in, and what its answers mean.
type remote struct {
	name    name
	address address.Address
	// url is the remote as configured, with credentials.
	url string
	// username and password are for http(s).
	username, password string
	ssh                *sshAccess
	// idle bounds the silence of a server.
	idle  time.Duration
	hosts *Hosts
}

func newRemote(options Options, name name, location address.Address) *remote {
	known := &knownHosts{name: name, configured: options.KnownHosts}
	return &remote{
		name: name, address: location, url: options.Remote, username: options.Username, password: options.Password,
		idle: options.Idle, hosts: options.Hosts,
		ssh: &sshAccess{
			name: name, key: options.SSHKey, configFile: options.SSHConfigFile,
			alias: options.SSHHost, aliasOf: options.SSHHostName, known: known, idle: options.Idle,
		},
	}
}

// ask opens a session with the server and gives it to use, with what the server has. Few ask one host at a time.
func (r *remote) ask(
	ctx context.Context, use func(context.Context, transport.UploadPackSession, *packp.AdvRefs) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	leave, err := r.hosts.enter(ctx, r.address.Host)
	if err != nil {
		return err
	}
	defer leave()
	session, err := r.uploadPack(ctx)
	if err != nil {
		return r.fetchError(err)
	}
	defer session.Close()
	refs, err := session.AdvertisedReferencesContext(ctx)
	if err == nil {
		err = use(ctx, session, refs)
	}
	return r.fetchError(err)
}

// head finds the branch among what a server has.
func (r *remote) head(refs *packp.AdvRefs) (plumbing.Hash, error) {
	branch := plumbing.NewBranchReferenceName(r.name.branch)
	if hash, ok := refs.References[branch.String()]; ok {
		return hash, nil
	}
	var names []string
	for name := range refs.References {
		if name := plumbing.ReferenceName(name); name.IsBranch() {
			names = append(names, name.Short())
		}
	}
	if len(names) == 0 {
		return plumbing.ZeroHash, transport.ErrEmptyRemoteRepository
	}
	slices.Sort(names)
	known := strings.Join(names[:min(len(names), maxNames)], ", ")
	return plumbing.ZeroHash, r.name.problem(ErrNoBranch, fmt.Sprintf(
		"%s is missing, there is %s: push it or name another branch in the piped configuration", r.name.branch, known))
}

func (r *remote) fetchError(err error) error {
	switch {
	case err == nil, isProblem(err), errors.Is(err, context.Canceled), errors.Is(err, errWriting):
		return err
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return r.name.problem(ErrNoCommits, "push the first one to branch "+r.name.branch)
	}
	if problem := r.accessProblem(err); problem != nil {
		return problem
	}
	return fmt.Errorf("fetch branch %s of git repository %s: %w", r.name.branch, r.name.remote, err)
}

func isProblem(err error) bool {
	var problem *RepositoryError
	return errors.As(err, &problem)
}

// accessProblem explains the answer of a server, or of the check of the server, that ends the access; nil when the
// error has another cause.
func (r *remote) accessProblem(err error) error {
	// go-git hides the cause of these two.
	var unexpected *plumbing.UnexpectedError
	if errors.As(err, &unexpected) {
		err = unexpected.Err
	}
	var permanent *plumbing.PermanentError
	if errors.As(err, &permanent) {
		err = permanent.Err
	}
	var key *hostKeyError
	var silent *silentError
	switch {
	case errors.As(err, &key):
		return r.ssh.known.problem(key)
	case errors.As(err, &silent):
		hint := fmt.Sprintf(
			"nothing came for %s: check the network, the address and the state of the server", silent.after,
		)
		return r.name.problem(ErrSilent, hint)
	case errors.Is(err, transport.ErrRepositoryNotFound):
		return r.name.problem(ErrNotRepository, "the server does not know it: check the remote and who may read it")
	case errors.Is(err, transport.ErrAuthenticationRequired), errors.Is(err, transport.ErrAuthorizationFailed),
		strings.Contains(err.Error(), "ssh: unable to authenticate"):
		return r.name.problem(
			ErrAuth,
			"set git.username and git.password, or git.sshKeyFile, in the piped configuration, for all repositories "+
				"or for this one",
		)
	}
	return nil
}
