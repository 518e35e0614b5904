// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"path"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// differ collects the paths that two trees do not share; equal subtrees are not read.
type differ struct {
	ctx   context.Context
	view  *view
	paths []string
}

func (d *differ) trees(from, to plumbing.Hash, prefix string) error {
	if from == to {
		return nil
	}
	if err := d.ctx.Err(); err != nil {
		return err
	}
	before, err := d.view.entries(from)
	if err != nil {
		return err
	}
	after, err := d.view.entries(to)
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
