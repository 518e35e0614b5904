// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// maxHaves bounds the commits that a server gets, so that it sends only what they lack.
const maxHaves = 16

// fetcher brings the commits of a Git server into the mirror, without their history.
type fetcher struct {
	remote *remote
	mirror *mirror
	past   *pastStore
	logger *slog.Logger
}

var errWriting = errors.New("another caller brings objects into the mirror")

func (f *fetcher) look(ctx context.Context) (plumbing.Hash, error) {
	head, err := f.lookAndBring(ctx, f.tryWriting, f.mirror.recent())
	if errors.Is(err, errWriting) {
		// Whoever has the turn to write may wait for a place at the host: wait for the turn without holding a place.
		if err := f.mirror.writing.take(ctx); err != nil {
			return plumbing.ZeroHash, err
		}
		defer f.mirror.writing.release()
		have := func() (func(), error) { return func() {}, nil }
		return f.lookAndBring(ctx, have, f.mirror.recent())
	}
	return head, err
}

func (f *fetcher) tryWriting() (release func(), err error) {
	if !f.mirror.writing.try() {
		return nil, errWriting
	}
	return f.mirror.writing.release, nil
}

// lookAndBring asks the server again for all of the commit when it cannot send what the mirror lacks. writing takes
// the turn to write for a download.
func (f *fetcher) lookAndBring(
	ctx context.Context, writing func() (release func(), err error), haves []plumbing.Hash,
) (head plumbing.Hash, err error) {
	err = f.remote.ask(ctx, func(ctx context.Context, s transport.UploadPackSession, refs *packp.AdvRefs) error {
		var err error
		if head, err = f.remote.head(refs); err != nil || f.mirror.use(head) {
			return err
		}
		release, err := writing()
		if err != nil {
			return err
		}
		defer release()
		if f.mirror.use(head) { // another caller has brought it meanwhile
			return nil
		}
		return f.download(ctx, s, refs, wanted{id: head, depth: 1, haves: haves})
	})
	if err == nil || ctx.Err() != nil || isProblem(err) || errors.Is(err, errWriting) || len(haves) == 0 {
		return head, err
	}
	f.logger.Debug("cannot fetch what the branch has more than the mirror; fetching all of the commit", "error", err)
	return f.lookAndBring(ctx, writing, nil)
}

// bring fetches a commit that the branch has left behind: by its name where the server allows that, else with all of
// the branch.
func (f *fetcher) bring(ctx context.Context, id plumbing.Hash) error {
	byName := f.remote.ask(ctx, func(ctx context.Context, s transport.UploadPackSession, refs *packp.AdvRefs) error {
		return f.download(ctx, s, refs, wanted{id: id, depth: 1, haves: f.mirror.recent()})
	})
	if f.mirror.use(id) {
		return nil
	}
	if ctx.Err() != nil || isProblem(byName) {
		return byName
	}
	err := f.remote.ask(ctx, func(ctx context.Context, s transport.UploadPackSession, refs *packp.AdvRefs) error {
		head, err := f.remote.head(refs)
		if err != nil {
			return err
		}
		return f.download(ctx, s, refs, wanted{id: head, depth: whole})
	})
	switch {
	case f.mirror.use(id):
		return nil
	case err != nil:
		return err
	}
	f.logger.Debug("the server does not give a commit by its name", "commit", id, "error", byName)
	return plumbing.ErrObjectNotFound
}

// download brings a commit into the mirror, which stays usable meanwhile. The caller has the turn to write.
func (f *fetcher) download(
	ctx context.Context, session transport.UploadPackSession, refs *packp.AdvRefs, want wanted,
) error {
	err := want.fetch(ctx, session, refs, func(read io.Reader) error {
		if want.thin() {
			return f.mirror.addThinPack(read)
		}
		return f.mirror.addPack(func(w io.Writer) error { _, err := io.Copy(w, read); return err })
	})
	if err != nil {
		return err
	}
	f.mirror.loads.add()
	if !f.mirror.use(want.id) {
		return fmt.Errorf("the server has sent a pack without commit %s", want.id)
	}
	return nil
}

func (f *fetcher) history(ctx context.Context, base, head plumbing.Hash, headBranch string) (*objects, func(), error) {
	return f.past.open(ctx, base, head, headBranch)
}
