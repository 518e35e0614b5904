// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Merge creates the commit that merging head into base would create, in the mirror alone, and returns it. base is a
// commit that Update has returned, head any commit of the repository; headBranch helps to find it on a server
// that gives no commit by its name. When one holds the other already, that one is returned.
//
// The error is a *ConflictError when Git could not merge them by itself, and a *RepositoryError when a commit is
// missing or the two have no common history.
func (r *Repository) Merge(ctx context.Context, base, head, headBranch string) (Commit, error) {
	m := &merger{mirror: r.mirror, origin: r.origin}
	return retried(ctx, r.repairer, func() (Commit, error) { return m.commits(ctx, base, head, headBranch) })
}

// merger merges commits of a repository.
type merger struct {
	mirror *mirror
	origin origin
}

func (m *merger) commits(ctx context.Context, base, head, headBranch string) (Commit, error) {
	for _, hash := range []string{base, head} {
		if !plumbing.IsHash(hash) {
			return Commit{}, m.mirror.name.noCommit(hash)
		}
	}
	ours, theirs := plumbing.NewHash(base), plumbing.NewHash(head)
	from, release, err := m.origin.history(ctx, ours, theirs, headBranch)
	if err != nil {
		return Commit{}, err
	}
	defer release()
	ancestors, err := m.bases(from, ours, theirs)
	if err != nil {
		return Commit{}, err
	}

	if err := m.mirror.writing.take(ctx); err != nil {
		return Commit{}, err
	}
	defer m.mirror.writing.release()
	for _, id := range append([]plumbing.Hash{ours, theirs}, ancestors...) {
		if err := m.mirror.copyFrom(ctx, from, id); err != nil {
			return Commit{}, fmt.Errorf("copy commit %s of repository %s: %w", id, m.mirror.name.id, err)
		}
	}
	v, done := m.mirror.view()
	defer done()
	for _, ancestor := range ancestors {
		switch ancestor {
		case theirs:
			return v.commit(ours)
		case ours:
			return v.commit(theirs)
		}
	}
	return mergeFrom(ctx, v, ours, theirs, ancestors)
}

// bases are the newest commits that both hold.
func (m *merger) bases(from *objects, ours, theirs plumbing.Hash) ([]plumbing.Hash, error) {
	if ours == theirs {
		return []plumbing.Hash{ours}, nil
	}
	one, err := object.GetCommit(from, ours)
	if err != nil {
		return nil, m.mirror.name.noCommit(ours.String())
	}
	other, err := object.GetCommit(from, theirs)
	if err != nil {
		return nil, m.mirror.name.noCommit(theirs.String())
	}
	found, err := one.MergeBase(other)
	switch {
	case errors.Is(err, plumbing.ErrObjectNotFound):
		return nil, m.mirror.name.problem(ErrNoHistory, incomplete)
	case err != nil:
		return nil, fmt.Errorf(
			"find the common history of commits %s and %s of repository %s: %w", ours, theirs, m.mirror.name.id, err,
		)
	case len(found) == 0:
		return nil, m.mirror.name.problem(
			ErrNoHistory,
			fmt.Sprintf("commits %.7s and %.7s have no common ancestor, so they cannot be merged", ours, theirs),
		)
	}
	var hashes []plumbing.Hash
	for _, commit := range found {
		hashes = append(hashes, commit.Hash)
	}
	return hashes, nil
}

// incomplete is the next step where commits are missing.
const incomplete = "a part of the history is missing, as in a shallow clone: fetch it with git fetch --unshallow"

// mergeFrom writes the merged tree and a commit for it. With several ancestors the result counts only when it is the
// same from each: Git would merge the ancestors first, which can decide otherwise.
func mergeFrom(ctx context.Context, v *view, ours, theirs plumbing.Hash, ancestors []plumbing.Hash) (Commit, error) {
	var tree plumbing.Hash
	for i, ancestor := range ancestors {
		merged, err := mergeTrees(ctx, v, ancestor, ours, theirs)
		if err != nil {
			return Commit{}, err
		}
		if i > 0 && merged != tree {
			return Commit{}, &ConflictError{
				Conflicts: []Conflict{
					{
						Path: ".",
						Reason: "the branches were merged into each other before, in several ways that lead to " +
							"different results",
					},
				},
			}
		}
		tree = merged
	}
	other, err := v.commitObject(theirs)
	if err != nil {
		return Commit{}, err
	}
	// The same two commits always give the same one: time and names are those of the head.
	who := object.Signature{
		Name: other.Committer.Name, Email: other.Committer.Email,
		When: other.Committer.When.UTC().Truncate(time.Second),
	}
	commit := &object.Commit{
		Author: who, Committer: who, TreeHash: tree, ParentHashes: []plumbing.Hash{ours, theirs},
		Message: fmt.Sprintf("Merge commit %s into branch %s\n", theirs, v.name.branch),
	}
	id, err := v.storeCommit(commit)
	if err != nil {
		return Commit{}, err
	}
	return v.commit(id)
}

func mergeTrees(ctx context.Context, v *view, ancestor, ours, theirs plumbing.Hash) (plumbing.Hash, error) {
	var roots [3]plumbing.Hash
	for i, id := range []plumbing.Hash{ancestor, ours, theirs} {
		root, err := v.rootTree(id)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		roots[i] = root
	}
	m := &treeMerger{ctx: ctx, view: v}
	tree, err := m.merge(roots[0], roots[1], roots[2])
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf(
			"merge commits %s and %s of repository %s: %w", ours, theirs, v.name.id, err,
		)
	}
	if len(m.conflicts) > 0 {
		return plumbing.ZeroHash, &ConflictError{Conflicts: m.conflicts}
	}
	return tree, nil
}

// ConflictError says that two commits cannot be merged without a decision of a human.
type ConflictError struct {
	// Conflicts are sorted by path.
	Conflicts []Conflict
}

// Conflict is one path that both sides have changed.
type Conflict struct{ Path, Reason string }

// maxConflicts bounds the conflicts that a message names.
const maxConflicts = 20

// Error names the first conflicts, one a line.
func (e *ConflictError) Error() string {
	var b strings.Builder
	for i, c := range e.Conflicts {
		if i == maxConflicts {
			fmt.Fprintf(&b, "\nand %d more", len(e.Conflicts)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s: %s", c.Path, c.Reason)
	}
	return b.String()
}
