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
)

// Push moves the branch of the repository from the base of the row to its head. The error is ErrMoved when
// the branch is somewhere else by now: create the row again upon the new head.
func (d *Draft) Push(ctx context.Context) error {
	err := d.push(ctx, d.repository.name.branch, d.base)
	if err == nil {
		d.repository.watcher.signal()
	}
	return err
}

// PushNew creates a branch at the head of the row. The error is ErrMoved when there is one of that name.
func (d *Draft) PushNew(ctx context.Context, branch string) error {
	if err := plumbing.NewBranchReferenceName(branch).Validate(); err != nil {
		return d.repository.name.problem(ErrNoBranch, fmt.Sprintf("%q cannot be the name of a branch", branch))
	}
	return d.push(ctx, branch, plumbing.ZeroHash)
}

// pushTimeout bounds one push.
const pushTimeout = time.Minute

// push sends what the repository lacks and moves the branch, both or neither. It knows what that is, so the
// mirror needs no history; the repository itself compares the old place of the branch, so that no change of
// others is lost. The mirror stays usable meanwhile.
func (d *Draft) push(ctx context.Context, branch string, old plumbing.Hash) error {
	repairer, r := d.repository.repairer, d.repository.remote
	seen := repairer.repairs()
	pack, err := d.pack()
	if err != nil {
		err = repairer.repair(ctx, seen, readError("commit", d.head, err))
		return fmt.Errorf("pack commits of repository %s: %w", r.name.id, err)
	}
	ctx, cancel := context.WithTimeout(ctx, pushTimeout)
	defer cancel()
	leave, err := r.hosts.enter(ctx, r.address.Host)
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
		return r.name.problem(ErrMoved, fmt.Sprintf(movedHint, branch))
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
	v, done := d.repository.mirror.view()
	defer done()
	pack := &bytes.Buffer{}
	_, err := packfile.NewEncoder(pack, v.storage, false).Encode(d.objects, 0)
	return pack, err
}

// movedHint, movingHint and dirtyHint are next steps for a branch.
const (
	movedHint  = "another push has moved %s; repeat the change upon what is there now"
	movingHint = "another push is moving %s; repeat the change upon what is there then"
	dirtyHint  = "%s is checked out there with changes that are not committed: commit or stash them"
)

// refusals are what receive-pack and Git hosts answer, and what it means.
var refusals = []struct {
	answer string
	reason error
	hint   string // %s is the branch
}{
	{"branch is currently checked out", ErrCheckedOut, "%s is checked out there: " +
		"allow it with git config receive.denyCurrentBranch updateInstead in that repository, " +
		"check out another branch, or have changes pushed to a new branch (makePullRequest)"},
	{"Working directory has unstaged changes", ErrCheckedOut, dirtyHint},
	{"Working directory has staged changes", ErrCheckedOut, dirtyHint},
	{"Working directory not clean", ErrCheckedOut, dirtyHint},
	{"Up-to-date check failed", ErrCheckedOut, dirtyHint},
	{"fetch first", ErrMoved, movedHint},
	{"non-fast-forward", ErrMoved, movedHint},
	{"failed to update ref", ErrMoved, movingHint},
	{"incorrect old value", ErrMoved, movedHint},
	{"cannot lock ref", ErrMoved, movingHint},
	{"reference already exists", ErrMoved, "there is a branch %s already"},
	{"protected branch", ErrRefused, "%s is protected: " +
		"let this piped's account push to it, or have changes pushed to a new branch (makePullRequest)"},
	{"hook declined", ErrRefused, "a hook of the repository declined the push to %s; its own log says why"},
	{"deny updating a hidden ref", ErrRefused, "the repository hides %s"},
}

func (r *remote) pushError(branch string, err error) error {
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
			return r.name.problem(refusal.reason, fmt.Sprintf(refusal.hint, branch))
		}
	}
	return fmt.Errorf("push to branch %s of git repository %s: %w", branch, r.name.remote, err)
}
