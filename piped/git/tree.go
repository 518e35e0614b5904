// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// maxFileSize bounds what ReadFile returns, in bytes.
const maxFileSize = 16 << 20

// ChangedFiles returns the paths that differ between two commits, sorted; a renamed file counts as both of
// its names. When from is empty or exists nowhere any more, every file of to has changed.
func (r *Repository) ChangedFiles(ctx context.Context, from, to string) ([]string, error) {
	return retried(ctx, r, func() ([]string, error) { return r.changedFiles(ctx, from, to) })
}

func (r *Repository) changedFiles(ctx context.Context, from, to string) ([]string, error) {
	if _, err := r.ensure(ctx, to); err != nil {
		return nil, err
	}
	if from != "" {
		switch _, err := r.ensure(ctx, from); {
		case errors.Is(err, ErrNoCommit):
			r.logger.Warn("the former commit is gone, every file counts as changed", "commit", from, "error", err)
			from = ""
		case err != nil:
			return nil, err // a server that is away for a moment must not make everything look changed
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	newTree, err := r.rootTree(to)
	if err != nil {
		return nil, err
	}
	var oldTree plumbing.Hash
	if from != "" {
		if oldTree, err = r.rootTree(from); err != nil {
			return nil, err
		}
	}
	d := &differ{r: r, ctx: ctx}
	if err := d.trees(oldTree, newTree, ""); err != nil {
		return nil, fmt.Errorf("compare commits %s and %s of repository %s: %w", from, to, r.options.ID, err)
	}
	slices.Sort(d.paths)
	return d.paths, nil
}

// ReadFile returns the content of a regular file of a commit. The error is fs.ErrNotExist when there is no such file.
func (r *Repository) ReadFile(ctx context.Context, hash, name string) ([]byte, error) {
	return retried(ctx, r, func() ([]byte, error) { return r.readFile(ctx, hash, name) })
}

func (r *Repository) readFile(ctx context.Context, hash, name string) ([]byte, error) {
	if _, err := r.ensure(ctx, hash); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	root, err := r.rootTree(hash)
	if err != nil {
		return nil, err
	}
	entry, err := r.find(root, path.Clean(name))
	if err != nil {
		return nil, fmt.Errorf("read %s at commit %s of repository %s: %w", name, hash, r.options.ID, err)
	}
	if entry.Mode == filemode.Symlink {
		return nil, fmt.Errorf("read %s at commit %s of repository %s: it is a symbolic link, and only regular files are read; commit a copy of the file", name, hash, r.options.ID)
	}
	if entry.Mode != filemode.Regular && entry.Mode != filemode.Executable && entry.Mode != filemode.Deprecated {
		return nil, fmt.Errorf("read %s at commit %s of repository %s: it is not a regular file", name, hash, r.options.ID)
	}
	return r.blob(entry.Hash)
}

// FindFiles returns the paths of the files of a commit for which match holds, sorted.
func (r *Repository) FindFiles(ctx context.Context, hash string, match func(path string) bool) ([]string, error) {
	return retried(ctx, r, func() ([]string, error) { return r.findFiles(ctx, hash, match) })
}

func (r *Repository) findFiles(ctx context.Context, hash string, match func(path string) bool) ([]string, error) {
	if _, err := r.ensure(ctx, hash); err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	root, err := r.rootTree(hash)
	if err != nil {
		return nil, err
	}
	var found []string
	err = r.walk(ctx, root, "", func(name string, entry object.TreeEntry) error {
		if entry.Mode != filemode.Submodule && match(name) {
			found = append(found, name)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list files at commit %s of repository %s: %w", hash, r.options.ID, err)
	}
	slices.Sort(found)
	return found, nil
}

// rootTree is the tree of a commit that is in the mirror. The caller holds mu.
func (r *Repository) rootTree(hash string) (plumbing.Hash, error) {
	commit, err := object.GetCommit(r.mirror, plumbing.NewHash(hash))
	if err != nil {
		return plumbing.ZeroHash, fmt.Errorf("repository %s: %w", r.options.ID, readError("commit", plumbing.NewHash(hash), err))
	}
	return commit.TreeHash, nil
}

func (r *Repository) entries(tree plumbing.Hash) ([]object.TreeEntry, error) {
	if tree.IsZero() {
		return nil, nil
	}
	read, err := object.GetTree(r.mirror, tree)
	if err != nil {
		return nil, readError("tree", tree, err)
	}
	return read.Entries, nil
}

func (r *Repository) find(tree plumbing.Hash, name string) (object.TreeEntry, error) {
	first, rest, deeper := strings.Cut(name, "/")
	entries, err := r.entries(tree)
	if err != nil {
		return object.TreeEntry{}, err
	}
	for _, entry := range entries {
		if entry.Name != first {
			continue
		}
		if !deeper {
			return entry, nil
		}
		if entry.Mode == filemode.Dir {
			return r.find(entry.Hash, rest)
		}
	}
	return object.TreeEntry{}, fs.ErrNotExist
}

func (r *Repository) blob(id plumbing.Hash) ([]byte, error) {
	blob, err := object.GetBlob(r.mirror, id)
	if err != nil {
		return nil, readError("object", id, err)
	}
	if blob.Size > maxFileSize {
		return nil, fmt.Errorf("read object %s: its size of %d bytes is over the limit of %d", id, blob.Size, maxFileSize)
	}
	reader, err := blob.Reader()
	if err != nil {
		return nil, readError("object", id, err)
	}
	defer reader.Close()
	content, err := io.ReadAll(reader)
	return content, readError("object", id, err)
}

// walk calls visit for everything in the tree but directories, which it enters.
func (r *Repository) walk(ctx context.Context, tree plumbing.Hash, prefix string, visit func(name string, entry object.TreeEntry) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := r.entries(tree)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name := path.Join(prefix, entry.Name)
		if entry.Mode == filemode.Dir {
			err = r.walk(ctx, entry.Hash, name, visit)
		} else {
			err = visit(name, entry)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// differ collects the paths that two trees do not share; equal subtrees are not read.
type differ struct {
	r     *Repository
	ctx   context.Context
	paths []string
}

func (d *differ) trees(from, to plumbing.Hash, prefix string) error {
	if from == to {
		return nil
	}
	if err := d.ctx.Err(); err != nil {
		return err
	}
	before, err := d.r.entries(from)
	if err != nil {
		return err
	}
	after, err := d.r.entries(to)
	if err != nil {
		return err
	}
	old := make(map[string]object.TreeEntry, len(before))
	for _, entry := range before {
		old[entry.Name] = entry
	}
	for _, entry := range after {
		former := old[entry.Name]
		delete(old, entry.Name)
		if err := d.entry(former, entry, path.Join(prefix, entry.Name)); err != nil {
			return err
		}
	}
	for name, former := range old {
		if err := d.entry(former, object.TreeEntry{}, path.Join(prefix, name)); err != nil {
			return err
		}
	}
	return nil
}

// entry compares what stands under one name; a zero entry is nothing.
func (d *differ) entry(from, to object.TreeEntry, name string) error {
	if from.Hash == to.Hash && from.Mode == to.Mode {
		return nil
	}
	var fromTree, toTree plumbing.Hash
	if from.Mode == filemode.Dir {
		fromTree = from.Hash
	}
	if to.Mode == filemode.Dir {
		toTree = to.Hash
	}
	isFile := func(entry object.TreeEntry) bool { return entry.Mode != filemode.Dir && entry.Mode != filemode.Empty }
	if isFile(from) || isFile(to) {
		d.paths = append(d.paths, name)
	}
	return d.trees(fromTree, toTree, name)
}
