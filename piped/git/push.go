// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/pipedeck/pipedeck/piped/git/address"
)

// Push moves the branch of the repository from the base of the row to its head. The error is ErrMoved when
// the branch is somewhere else by now: make the row anew upon the new head.
func (d *Draft) Push(ctx context.Context) error {
	err := d.push(ctx, d.repository.options.Branch, d.base)
	if err == nil {
		d.repository.signal()
	}
	return err
}

// PushNew makes a branch at the head of the row. The error is ErrMoved when there is one of that name.
func (d *Draft) PushNew(ctx context.Context, branch string) error {
	if err := plumbing.NewBranchReferenceName(branch).Validate(); err != nil {
		return d.repository.problem(ErrNoBranch, fmt.Sprintf("%q cannot be the name of a branch", branch))
	}
	return d.push(ctx, branch, plumbing.ZeroHash)
}

// pushTimeout bounds one push.
const pushTimeout = time.Minute

// push sends what the repository lacks and moves the branch, both or neither. It knows what that is, so the
// mirror needs no history; the repository itself compares the old place of the branch, so that nothing of
// others is lost. The mirror stays usable meanwhile.
func (d *Draft) push(ctx context.Context, branch string, old plumbing.Hash) error {
	r := d.repository
	seen := r.repairCount()
	pack, err := d.pack()
	if err != nil {
		return fmt.Errorf("pack commits of repository %s: %w", r.options.ID, r.repair(ctx, seen, readError("commit", d.head, err)))
	}
	ctx, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	leave, err := r.options.Hosts.enter(ctx, r.address.Host)
	if err != nil {
		return err
	}
	defer leave()
	session, err := r.receivePack(ctx)
	if err != nil {
		return r.pushError(branch, err)
	}
	defer session.Close()
	advertised, err := session.AdvertisedReferencesContext(ctx)
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		advertised, err = packp.NewAdvRefs(), nil
	}
	if err != nil {
		return r.pushError(branch, err)
	}
	name := plumbing.NewBranchReferenceName(branch)
	now := advertised.References[name.String()]
	switch {
	case now == d.head:
		return nil // an earlier push got through
	case now != old:
		return r.moved(branch)
	}
	request := packp.NewReferenceUpdateRequestFromCapabilities(advertised.Capabilities)
	request.Commands = []*packp.Command{{Name: name, Old: old, New: d.head}}
	request.Packfile = io.NopCloser(pack)
	report, err := session.ReceivePack(ctx, request)
	if err == nil && report != nil {
		err = report.Error()
	}
	return r.pushError(branch, err)
}

// pack holds the objects of the row. They are as large as the files that it changes.
func (d *Draft) pack() (*bytes.Buffer, error) {
	d.repository.mu.Lock()
	defer d.repository.mu.Unlock()
	pack := &bytes.Buffer{}
	_, err := packfile.NewEncoder(pack, d.repository.mirror, false).Encode(d.objects, 0)
	return pack, err
}

func (r *Repository) moved(branch string) error {
	return r.problem(ErrMoved, fmt.Sprintf("somebody else has pushed to %s; do it again upon what is there now", branch))
}

// refusals are what receive-pack and Git hosts answer, and what it means.
var refusals = []struct {
	answer string
	reason error
	hint   string // %s is the branch
}{
	{"branch is currently checked out", ErrCheckedOut, "%s is checked out there: allow it with git config receive.denyCurrentBranch updateInstead in that repository, check out another branch, or have changes pushed to a new branch (makePullRequest)"},
	{"Working directory has unstaged changes", ErrCheckedOut, "%s is checked out there with changes that are not committed: commit or stash them"},
	{"Working directory has staged changes", ErrCheckedOut, "%s is checked out there with changes that are not committed: commit or stash them"},
	{"Working directory not clean", ErrCheckedOut, "%s is checked out there with changes that are not committed: commit or stash them"},
	{"Up-to-date check failed", ErrCheckedOut, "%s is checked out there with changes that are not committed: commit or stash them"},
	{"fetch first", ErrMoved, "somebody else has pushed to %s; do it again upon what is there now"},
	{"non-fast-forward", ErrMoved, "somebody else has pushed to %s; do it again upon what is there now"},
	{"failed to update ref", ErrMoved, "somebody else is pushing to %s; do it again upon what is there then"},
	{"incorrect old value", ErrMoved, "somebody else has pushed to %s; do it again upon what is there now"},
	{"cannot lock ref", ErrMoved, "somebody else is pushing to %s; do it again upon what is there then"},
	{"reference already exists", ErrMoved, "there is a branch %s already"},
	{"protected branch", ErrRefused, "%s is protected: let this piped's account push to it, or have changes pushed to a new branch (makePullRequest)"},
	{"hook declined", ErrRefused, "a hook of the repository declined the push to %s; its own log says why"},
	{"deny updating a hidden ref", ErrRefused, "the repository hides %s"},
}

func (r *Repository) pushError(branch string, err error) error {
	var known *RepositoryError
	switch {
	case err == nil, errors.As(err, &known):
		return err
	}
	if problem := r.accessProblem(err); problem != nil {
		return problem
	}
	for _, refusal := range refusals {
		if strings.Contains(err.Error(), refusal.answer) {
			return r.problem(refusal.reason, fmt.Sprintf(refusal.hint, branch))
		}
	}
	return fmt.Errorf("push to branch %s of git repository %s: %w", branch, address.WithoutCredentials(r.options.Remote), err)
}
