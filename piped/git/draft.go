// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// Draft is a row of commits on top of a commit of the branch, which only the mirror has until they are pushed. It is
// for one goroutine.
type Draft struct {
	repository *Repository
	base, head plumbing.Hash
	// objects are all that a repository which has the base lacks.
	objects []plumbing.Hash
}

// Change is a commit to create.
type Change struct {
	// Files are new contents of regular files that exist, by path from the repository root. Modes stay.
	Files   map[string][]byte
	Message string
	// Name and Email are those of the author and the committer.
	Name, Email string
	At          time.Time
}

// Draft starts a row of commits on top of a commit that Update or Commit has returned.
func (r *Repository) Draft(ctx context.Context, base string) (*Draft, error) {
	id, err := r.commits.ensure(ctx, base)
	if err != nil {
		return nil, err
	}
	return &Draft{repository: r, base: id, head: id}, nil
}

// Head is the newest commit of the row, the base while there is none.
func (d *Draft) Head() string { return d.head.String() }

// Empty reports that the row has no commit yet.
func (d *Draft) Empty() bool { return d.head == d.base }

// ReadFile is Repository.ReadFile at the head of the row.
func (d *Draft) ReadFile(ctx context.Context, name string) ([]byte, error) {
	return d.repository.ReadFile(ctx, d.Head(), name)
}

// Commit adds a commit to the row. The error is fs.ErrNotExist when it changes a file that is not there. After
// ErrRepaired start again with a new Draft.
func (d *Draft) Commit(ctx context.Context, c Change) error {
	seen := d.repository.repairer.repairs()
	return d.repository.repairer.repair(ctx, seen, d.commit(c))
}

func (d *Draft) commit(c Change) error {
	v, done := d.repository.mirror.view()
	defer done()
	root, err := v.rootTree(d.head)
	if err != nil {
		return err
	}
	files := make(map[string][]byte, len(c.Files))
	for name, content := range c.Files {
		files[path.Clean(name)] = content
	}
	w := &treeWriter{view: v}
	tree, err := w.tree(root, files, "")
	if err != nil {
		return fmt.Errorf("change files of commit %s of repository %s: %w", d.head, v.name.id, err)
	}
	who := object.Signature{Name: c.Name, Email: c.Email, When: c.At}
	commit := &object.Commit{
		Author: who, Committer: who, Message: c.Message, TreeHash: tree, ParentHashes: []plumbing.Hash{d.head},
	}
	head, err := v.storeCommit(commit)
	if err != nil {
		return err
	}
	d.objects = append(append(d.objects, w.written...), head)
	d.head = head
	return nil
}

// treeWriter writes the trees and files of one commit.
type treeWriter struct {
	view    *view
	written []plumbing.Hash
}

// tree writes the directory at the prefix with the files changed; their names are relative to it.
func (w *treeWriter) tree(id plumbing.Hash, files map[string][]byte, prefix string) (plumbing.Hash, error) {
	entries, err := w.view.entries(id)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	below := map[string]map[string][]byte{}
	for name, content := range files {
		first, rest, _ := strings.Cut(name, "/")
		if below[first] == nil {
			below[first] = map[string][]byte{}
		}
		below[first][rest] = content
	}
	changed := &object.Tree{}
	for _, entry := range entries {
		inside, touched := below[entry.Name]
		delete(below, entry.Name)
		content, itself := inside[""]
		switch {
		case !touched:
		case itself && isBlob(entry):
			entry.Hash, err = w.note(w.view.storeBlob(content))
		case !itself && entry.Mode == filemode.Dir:
			entry.Hash, err = w.tree(entry.Hash, inside, prefix+entry.Name+"/")
		default:
			err = fmt.Errorf("%s is not a regular file", prefix+entry.Name)
		}
		if err != nil {
			return plumbing.ZeroHash, err
		}
		changed.Entries = append(changed.Entries, entry)
	}
	for name := range below {
		return plumbing.ZeroHash, fmt.Errorf("%s: %w", prefix+name, fs.ErrNotExist)
	}
	return w.note(w.view.store(changed.Encode))
}

func (w *treeWriter) note(id plumbing.Hash, err error) (plumbing.Hash, error) {
	if err == nil {
		w.written = append(w.written, id)
	}
	return id, err
}
