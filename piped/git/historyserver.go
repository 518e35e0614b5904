// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/go-git/go-git/v5/plumbing/protocol/packp"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

// historyRef is where a commit stands that was fetched by its name.
const historyRef = "refs/pipedeck/head"

func (r *Repository) fetchedHistory(ctx context.Context, base, head plumbing.Hash, headBranch string) (*objects, error) {
	dir := r.options.Dir + ".history"
	if err := r.tidyHistory(dir); err != nil {
		return nil, fmt.Errorf("clean up the history of repository %s: %w", r.options.ID, err)
	}
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
	for _, name := range []string{r.options.Branch, headBranch, ""} {
		if !missing() {
			break
		}
		err := r.fetchHistory(ctx, storage, name, head)
		if err != nil && (ctx.Err() != nil || name == r.options.Branch) {
			return nil, err
		}
	}
	for _, id := range []plumbing.Hash{base, head} {
		if from.HasEncodedObject(id) != nil {
			return nil, r.noCommit(id.String())
		}
	}
	return from, nil
}

// maxHistoryPacks bounds the fetches that are kept; then the history is fetched anew, as one pack.
const maxHistoryPacks = 200

func (r *Repository) tidyHistory(dir string) error {
	packs, err := listPacks(filepath.Join(dir, "objects", "pack"))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(packs) > maxHistoryPacks:
		return os.RemoveAll(dir)
	}
	return r.checkPacks(dir, func() error { return os.RemoveAll(filepath.Join(dir, "objects")) })
}

// fetchHistory brings a branch with its history into the storage, or the commit when there is no name. A branch
// that is missing brings nothing.
func (r *Repository) fetchHistory(ctx context.Context, storage *filesystem.Storage, name string, commit plumbing.Hash) error {
	return r.ask(ctx, func(ctx context.Context, session transport.UploadPackSession, refs *packp.AdvRefs) error {
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
			err := want.fetch(ctx, session, refs, func(read io.Reader) error { return packfile.UpdateObjectStorage(storage, read) })
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
			if ref.Type() == plumbing.HashReference && len(list) < maxHaves && storage.HasEncodedObject(ref.Hash()) == nil {
				list = append(list, ref.Hash())
			}
			return nil
		})
	}
	return list
}
