// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package gitobjects

import (
	"path"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// Changed returns the sorted paths of the files, links and submodules that differ between two commits in content or
// mode. A file that was moved is two of them. Trees that are the same are not read.
func (r *Repository) Changed(from, to plumbing.Hash) ([]string, error) {
	before, err := r.Commit(from)
	if err != nil {
		return nil, err
	}
	after, err := r.Commit(to)
	if err != nil {
		return nil, err
	}
	d := difference{repository: r}
	if err := d.trees(before.Tree, after.Tree, ""); err != nil {
		return nil, err
	}
	slices.Sort(d.paths)
	return d.paths, nil
}

// difference collects the paths that two trees do not share.
type difference struct {
	repository *Repository
	paths      []string
}

// trees compares two trees; a zero hash is an empty one.
func (d *difference) trees(from, to plumbing.Hash, dir string) error {
	if from == to {
		return nil
	}
	before, err := d.entries(from)
	if err != nil {
		return err
	}
	after, err := d.entries(to)
	if err != nil {
		return err
	}
	for name, entry := range after {
		if err := d.entry(before[name], entry, path.Join(dir, name)); err != nil {
			return err
		}
		delete(before, name)
	}
	for name, entry := range before {
		if err := d.entry(entry, Entry{}, path.Join(dir, name)); err != nil {
			return err
		}
	}
	return nil
}

func (d *difference) entries(tree plumbing.Hash) (map[string]Entry, error) {
	if tree.IsZero() {
		return nil, nil
	}
	list, err := d.repository.Tree(tree)
	if err != nil {
		return nil, err
	}
	entries := make(map[string]Entry, len(list))
	for _, entry := range list {
		entries[entry.Name] = entry
	}
	return entries, nil
}

// entry compares what is under one name; a zero entry is nothing.
func (d *difference) entry(from, to Entry, name string) error {
	if from.Hash == to.Hash && from.Mode == to.Mode {
		return nil
	}
	isFile := func(e Entry) bool { return e.Mode != filemode.Dir && e.Mode != filemode.Empty }
	if isFile(from) || isFile(to) {
		d.paths = append(d.paths, name)
	}
	tree := func(e Entry) (hash plumbing.Hash) {
		if e.Mode == filemode.Dir {
			hash = e.Hash
		}
		return hash
	}
	return d.trees(tree(from), tree(to), name)
}
