// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

const (
	submoduleReason = "a submodule, which is not fetched: make it a separate repository in the piped configuration, " +
		"or copy what is deployed"
	lfsReason = "a Git LFS pointer: the content that it stands for is not fetched; keep files that are " +
		"deployed in Git itself"
)

const (
	// maxPointers bounds the small files that are read for one application.
	maxPointers = 2000
	// maxLeftOut bounds what is returned.
	maxLeftOut = 100
)

// attributes is the file that says which files Git LFS keeps, and lfsFilter how it says so.
const (
	attributes = ".gitattributes"
	lfsFilter  = "filter=lfs"
)

// LeftOut returns what of a directory of a commit ("." is the root) a checkout lacks: submodules, and files of Git
// LFS, of which there is a pointer. It reads files only where .gitattributes mentions Git LFS, and small ones alone.
// Links that lead out are not returned: Checkout does that.
func (r *Repository) LeftOut(ctx context.Context, hash, dir string) ([]LeftOut, error) {
	return retried(ctx, r.repairer, func() ([]LeftOut, error) { return r.commits.leftOut(ctx, hash, dir) })
}

func (c *commits) leftOut(ctx context.Context, hash, dir string) ([]LeftOut, error) {
	id, err := c.ensure(ctx, hash)
	if err != nil {
		return nil, err
	}
	v, done := c.mirror.view()
	defer done()
	s := &leftOutScan{ctx: ctx, view: v}
	err = s.from(id, path.Clean(dir))
	if err != nil && !errors.Is(err, errEnough) {
		return nil, fmt.Errorf(
			"find what is not in Git in %s at commit %s of repository %s: %w", dir, hash, v.name.id, err,
		)
	}
	return s.found, nil
}

var errEnough = errors.New("enough was found")

type leftOutScan struct {
	ctx   context.Context
	view  *view
	found []LeftOut
	small int
}

// from goes down to the directory, minding the attributes on the way.
func (s *leftOutScan) from(commit plumbing.Hash, dir string) error {
	tree, err := s.view.rootTree(commit)
	if err != nil {
		return err
	}
	lfs := false
	for at, name := ".", ""; at != dir; at = path.Join(at, name) {
		if lfs, err = s.mentionsLFS(tree, lfs); err != nil {
			return err
		}
		name = firstPart(dir, at)
		entry, err := s.view.find(tree, name)
		if err != nil {
			return err
		}
		if entry.Mode == filemode.Submodule {
			s.found = append(s.found, LeftOut{Path: path.Join(at, name), Reason: submoduleReason})
		}
		if entry.Mode != filemode.Dir {
			return nil
		}
		tree = entry.Hash
	}
	return s.tree(tree, dir, lfs)
}

// firstPart is the name in at that leads to dir.
func firstPart(dir, at string) string {
	rest := dir
	if at != "." {
		rest = dir[len(at)+1:]
	}
	for i := range len(rest) {
		if rest[i] == '/' {
			return rest[:i]
		}
	}
	return rest
}

func (s *leftOutScan) mentionsLFS(tree plumbing.Hash, inherited bool) (bool, error) {
	if inherited {
		return true, nil
	}
	entries, err := s.view.entries(tree)
	if err != nil {
		return false, err
	}
	for _, entry := range entries {
		if entry.Name != attributes || !entry.Mode.IsRegular() {
			continue
		}
		content, err := s.view.blob(entry.Hash)
		if err != nil {
			return false, err
		}
		return bytes.Contains(content, []byte(lfsFilter)), nil
	}
	return false, nil
}

func (s *leftOutScan) tree(tree plumbing.Hash, prefix string, lfs bool) error {
	if err := s.ctx.Err(); err != nil {
		return err
	}
	lfs, err := s.mentionsLFS(tree, lfs)
	if err != nil {
		return err
	}
	entries, err := s.view.entries(tree)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := path.Join(prefix, entry.Name)
		reason := ""
		switch {
		case entry.Mode == filemode.Dir:
			err = s.tree(entry.Hash, name, lfs)
		case entry.Mode == filemode.Submodule:
			reason = submoduleReason
		case lfs && entry.Mode.IsFile() && entry.Mode != filemode.Symlink:
			reason, err = s.pointer(entry)
		}
		if err != nil {
			return err
		}
		if reason != "" {
			if len(s.found) == maxLeftOut {
				return errEnough
			}
			s.found = append(s.found, LeftOut{Path: name, Reason: reason})
		}
	}
	return nil
}

// pointer is the reason when the file is a pointer.
func (s *leftOutScan) pointer(entry object.TreeEntry) (reason string, err error) {
	size, err := s.view.size(entry.Hash)
	if err != nil {
		return "", err
	}
	if size > maxPointer || size < int64(len(lfsPointer)) {
		return "", nil
	}
	if s.small++; s.small > maxPointers {
		return "", errEnough
	}
	content, err := s.view.blob(entry.Hash)
	if err != nil || !bytes.HasPrefix(content, []byte(lfsPointer)) {
		return "", err
	}
	return lfsReason, nil
}
