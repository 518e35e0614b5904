// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp/capability"
	"github.com/go-git/go-git/v5/plumbing/transport"

	"github.com/pipedeck/pipedeck/piped/git/address"
)

const (
	// fetchTimeout bounds one fetch, however steadily the server sends. One that falls silent is given up
	// after idleTimeout.
	fetchTimeout = time.Hour
	// whole is the depth of a whole history.
	whole = 0
	// maxNames bounds the branches that a message names.
	maxNames = 10
	// maxHaves bounds the commits that a server is told of, so that it sends only what they lack.
	maxHaves = 16
)

// lookRemote asks a Git server where the branch is, and brings that commit into the mirror, without its history.
func (r *Repository) lookRemote(ctx context.Context) (plumbing.Hash, error) {
	head, err := r.lookAndBring(ctx, r.tryPacks, r.recent())
	if errors.Is(err, errPacksInUse) {
		// Nobody waits for the packs in a place at the host: the one who has them may wait for a place.
		if err := r.lockPacks(ctx); err != nil {
			return plumbing.ZeroHash, err
		}
		defer r.unlockPacks()
		have := func() (func(), error) { return func() {}, nil }
		return r.lookAndBring(ctx, have, r.recent())
	}
	return head, err
}

// lookAndBring asks the server again for all of the commit when it cannot send what the mirror lacks. packs gets
// them for a download.
func (r *Repository) lookAndBring(ctx context.Context, packs func() (release func(), err error), haves []plumbing.Hash) (head plumbing.Hash, err error) {
	err = r.ask(ctx, func(ctx context.Context, s transport.UploadPackSession, refs *packp.AdvRefs) error {
		var err error
		if head, err = r.pick(refs); err != nil || r.has(head) {
			return err
		}
		release, err := packs()
		if err != nil {
			return err
		}
		defer release()
		if r.has(head) { // somebody else has brought it meanwhile
			return nil
		}
		return r.download(ctx, s, refs, wanted{id: head, depth: 1, haves: haves})
	})
	if err == nil || ctx.Err() != nil || isProblem(err) || errors.Is(err, errPacksInUse) || len(haves) == 0 {
		return head, err
	}
	r.logger.Debug("cannot fetch what the branch has more than the mirror; fetching all of the commit", "error", err)
	return r.lookAndBring(ctx, packs, nil)
}

// fetchCommit brings a commit into the mirror that the branch has left behind: by its name where the server
// allows that, else with all of the branch. The error is plumbing.ErrObjectNotFound when the server does not
// have it. The caller holds the packs.
func (r *Repository) fetchCommit(ctx context.Context, id plumbing.Hash) error {
	byName := r.ask(ctx, func(ctx context.Context, s transport.UploadPackSession, refs *packp.AdvRefs) error {
		return r.download(ctx, s, refs, wanted{id: id, depth: 1, haves: r.recent()})
	})
	if r.has(id) {
		return nil
	}
	if ctx.Err() != nil || isProblem(byName) {
		return byName
	}
	err := r.ask(ctx, func(ctx context.Context, s transport.UploadPackSession, refs *packp.AdvRefs) error {
		head, err := r.pick(refs)
		if err != nil {
			return err
		}
		return r.download(ctx, s, refs, wanted{id: head, depth: whole})
	})
	switch {
	case r.has(id):
		return nil
	case err != nil:
		return err
	}
	r.logger.Debug("the server does not give a commit by its name", "commit", id, "error", byName)
	return plumbing.ErrObjectNotFound
}

func isProblem(err error) bool {
	var problem *RepositoryError
	return errors.As(err, &problem)
}

// ask opens a session with the server and gives it to use, with what the server has. Few ask one host at a time.
func (r *Repository) ask(ctx context.Context, use func(context.Context, transport.UploadPackSession, *packp.AdvRefs) error) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	leave, err := r.options.Hosts.enter(ctx, r.address.Host)
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

// wanted is a commit to fetch.
type wanted struct {
	id plumbing.Hash
	// depth counts the commits of the history, this one included; whole is all of them.
	depth int
	// haves are commits that are there, with their files, and with their history when that of id is wanted.
	haves []plumbing.Hash
}

// thin tells that the pack may build upon what is there.
func (want wanted) thin() bool { return want.depth != whole && len(want.haves) > 0 }

// download brings a commit into the mirror, which stays usable meanwhile. The caller holds the packs.
func (r *Repository) download(ctx context.Context, session transport.UploadPackSession, refs *packp.AdvRefs, want wanted) error {
	err := want.fetch(ctx, session, refs, func(read io.Reader) error {
		if want.thin() {
			return r.addThinPack(read)
		}
		return r.addPack(func(w io.Writer) error { _, err := io.Copy(w, read); return err })
	})
	if err != nil {
		return err
	}
	r.brought()
	if !r.has(want.id) {
		return fmt.Errorf("the server has sent a pack without commit %s", want.id)
	}
	return nil
}

// fetch asks for one pack and gives it to the consumer, which has to read all of it.
func (want wanted) fetch(ctx context.Context, session transport.UploadPackSession, refs *packp.AdvRefs, consume func(io.Reader) error) error {
	request := packp.NewUploadPackRequestFromCapabilities(refs.Capabilities)
	request.Wants, request.Haves = []plumbing.Hash{want.id}, want.haves
	if refs.Capabilities.Supports(capability.NoProgress) {
		_ = request.Capabilities.Set(capability.NoProgress)
	}
	switch {
	case want.depth == whole:
	case refs.Capabilities.Supports(capability.Shallow):
		_ = request.Capabilities.Set(capability.Shallow)
		request.Depth = packp.DepthCommits(want.depth)
		request.Shallows = want.haves
		if want.thin() {
			_ = request.Capabilities.Set(capability.ThinPack) // go-git takes it from what every server can do
		}
	default:
		request.Haves = nil // the server would take their history for granted
	}
	response, err := session.UploadPack(ctx, request)
	if err != nil {
		return err
	}
	defer response.Close()
	err = consume(demultiplex(request.Capabilities, response))
	if ctx.Err() != nil { // the end of the connection may look like the end of the pack
		return context.Cause(ctx)
	}
	return err
}

// pick finds the branch among what a server has.
func (r *Repository) pick(refs *packp.AdvRefs) (plumbing.Hash, error) {
	branch := plumbing.NewBranchReferenceName(r.options.Branch)
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
	return plumbing.ZeroHash, r.problem(ErrNoBranch, fmt.Sprintf("%s is missing, there is %s: push it or name another branch in the piped configuration", r.options.Branch, strings.Join(names[:min(len(names), maxNames)], ", ")))
}

func (r *Repository) fetchError(err error) error {
	switch {
	case err == nil, isProblem(err), errors.Is(err, context.Canceled), errors.Is(err, errPacksInUse):
		return err
	case errors.Is(err, transport.ErrEmptyRemoteRepository):
		return r.problem(ErrNoCommits, fmt.Sprintf("push the first one to branch %s", r.options.Branch))
	}
	if problem := r.accessProblem(err); problem != nil {
		return problem
	}
	return fmt.Errorf("fetch branch %s of git repository %s: %w", r.options.Branch, address.WithoutCredentials(r.options.Remote), err)
}

func (r *Repository) problem(reason error, hint string) error {
	return &RepositoryError{Remote: address.WithoutCredentials(r.options.Remote), Reason: reason, Hint: hint}
}
