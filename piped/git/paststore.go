// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// pastStore keeps the history of a server's repository next to the mirror, for merges.
type pastStore struct {
	dir    string
	name   name
	remote *remote
	logger *slog.Logger
	// using is the turn of whoever uses the directory.
	using turn
}

// open fetches what is missing. No one else uses what is returned until release is called.
func (p *pastStore) open(
	ctx context.Context, base, head plumbing.Hash, headBranch string,
) (_ *objects, release func(), err error) {
	if err := p.using.take(ctx); err != nil {
		return nil, nil, err
	}
	from, err := p.fetched(ctx, base, head, headBranch)
	if err != nil {
		p.using.release()
		return nil, nil, err
	}
	return from, p.using.release, nil
}

// historyRef is where a commit stands that was fetched by its name.
const historyRef = "refs/pipedeck/head"

func (p *pastStore) fetched(ctx context.Context, base, head plumbing.Hash, headBranch string) (*objects, error) {
	storage, err := p.storage()
	if err != nil {
		return nil, err
	}
	from := &objects{EncodedObjectStorer: storage}
	missing := func() bool { return from.HasEncodedObject(base) != nil || from.HasEncodedObject(head) != nil }
	if !missing() {
		return from, nil
	}
	for _, name := range []string{p.name.branch, headBranch, ""} {
		if !missing() {
			break
		}
		err := p.fetch(ctx, storage, name, head)
		if err != nil && (ctx.Err() != nil || name == p.name.branch) {
			return nil, err
		}
	}
	for _, id := range []plumbing.Hash{base, head} {
		if from.HasEncodedObject(id) != nil {
			return nil, p.name.noCommit(id.String())
		}
	}
	return from, nil
}

// maxHistoryPacks bounds the fetches that are kept; then the history is fetched again, as one pack.
const maxHistoryPacks = 200

// storage opens the directory, creating it if needed.
func (p *pastStore) storage() (*filesystem.Storage, error) {
	if err := p.tidy(); err != nil {
		return nil, fmt.Errorf("clean up the history of repository %s: %w", p.name.id, err)
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the directory for the history of repository %s: %w", p.name.id, err)
	}
	storage := newStorage(p.dir, "objects")
	if _, err := os.Stat(filepath.Join(p.dir, "HEAD")); err != nil {
		if _, err := gogit.Init(storage, nil); err != nil && !errors.Is(err, gogit.ErrRepositoryAlreadyExists) {
			return nil, fmt.Errorf("create the directory for the history of repository %s: %w", p.name.id, err)
		}
	}
	return storage, nil
}

func (p *pastStore) tidy() error {
	packs, err := listPacks(filepath.Join(p.dir, "objects", "pack"))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(packs) > maxHistoryPacks:
		return os.RemoveAll(p.dir)
	}
	return checkPacks(p.dir, p.logger, func() error { return os.RemoveAll(filepath.Join(p.dir, "objects")) })
}

// fetch brings a branch with its history into the storage, or the commit when there is no name. A branch
// that is missing brings nothing.
func (p *pastStore) fetch(ctx context.Context, storage *filesystem.Storage, name string, commit plumbing.Hash) error {
	return p.remote.ask(ctx, func(ctx context.Context, session transport.UploadPackSession, refs *packp.AdvRefs) error {
		ref := plumbing.ReferenceName(historyRef)
		if name != "" {
			ref = plumbing.NewBranchReferenceName(name)
			id, ok := refs.References[ref.String()]
			if !ok {
				return nil
			}
			commit = id
		}
		if storage.HasEncodedObject(commit) != nil {
			want := wanted{id: commit, depth: whole, haves: heads(storage)}
			err := want.fetch(
				ctx, session, refs, func(read io.Reader) error { return packfile.UpdateObjectStorage(storage, read) },
			)
			if err != nil {
				return err
			}
		}
		return storage.SetReference(plumbing.NewHashReference(ref, commit))
	})
}

// heads are the commits that the references of a storage name, as far as they are there.
func heads(storage *filesystem.Storage) []plumbing.Hash {
	var list []plumbing.Hash
	if known, err := storage.IterReferences(); err == nil {
		_ = known.ForEach(func(ref *plumbing.Reference) error { // it fails only when the function does
			if ref.Type() == plumbing.HashReference && len(list) < maxHaves && storage.HasEncodedObject(
				ref.Hash(),
			) == nil {
				list = append(list, ref.Hash())
			}
			return nil
		})
	}
	return list
}
