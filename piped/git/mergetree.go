// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// treeMerger merges two trees that come from one. It follows files that one side has renamed without changing them;
// other renames are a deletion and an addition.
type treeMerger struct {
	ctx       context.Context
	view      *view
	conflicts []Conflict
}

// edit is what one side has done to a file; a zero entry is none.
type edit struct{ before, after object.TreeEntry }

type edits map[string]edit

func (m *treeMerger) merge(ancestor, ours, theirs plumbing.Hash) (plumbing.Hash, error) {
	one, other := edits{}, edits{}
	if err := errors.Join(m.compare(ancestor, ours, "", one), m.compare(ancestor, theirs, "", other)); err != nil {
		return plumbing.ZeroHash, err
	}
	m.follow(one, other)
	m.follow(other, one)
	result := map[string]object.TreeEntry{}
	for _, name := range slices.Sorted(maps.Keys(other)) {
		change := other[name]
		mine, both := one[name]
		if !both {
			result[name] = change.after
			continue
		}
		merged, err := m.file(name, mine, change)
		if err != nil {
			return plumbing.ZeroHash, fmt.Errorf("%s: %w", name, err)
		}
		result[name] = merged
	}
	tree, err := m.write(ours, result, "")
	slices.SortFunc(m.conflicts, func(a, b Conflict) int { return strings.Compare(a.Path, b.Path) })
	return tree, err
}

// compare collects the files in which two trees differ; equal subtrees are not read.
func (m *treeMerger) compare(from, to plumbing.Hash, prefix string, found edits) error {
	if from == to {
		return nil
	}
	if err := m.ctx.Err(); err != nil {
		return err
	}
	former, err := m.view.entries(from)
	if err != nil {
		return err
	}
	present, err := m.view.entries(to)
	if err != nil {
		return err
	}
	pairs := map[string]edit{}
	for _, entry := range former {
		pairs[entry.Name] = edit{before: entry}
	}
	for _, entry := range present {
		pairs[entry.Name] = edit{before: pairs[entry.Name].before, after: entry}
	}
	for name, pair := range pairs {
		full := path.Join(prefix, name)
		var fromTree, toTree plumbing.Hash
		if pair.before.Mode == filemode.Dir {
			fromTree, pair.before = pair.before.Hash, object.TreeEntry{}
		}
		if pair.after.Mode == filemode.Dir {
			toTree, pair.after = pair.after.Hash, object.TreeEntry{}
		}
		if pair.before != pair.after {
			found[full] = pair
		}
		if err := m.compare(fromTree, toTree, full, found); err != nil {
			return err
		}
	}
	return nil
}

// follow takes what one side has changed in a file to the place to which the other has moved it.
func (m *treeMerger) follow(moves, changes edits) {
	type place struct{ gone, came []string }
	byContent := map[object.TreeEntry]place{}
	for _, name := range slices.Sorted(maps.Keys(moves)) {
		change := moves[name]
		switch {
		case change.after.Mode == 0 && isBlob(change.before):
			key := object.TreeEntry{Mode: change.before.Mode, Hash: change.before.Hash}
			byContent[key] = place{append(byContent[key].gone, name), byContent[key].came}
		case change.before.Mode == 0 && isBlob(change.after):
			key := object.TreeEntry{Mode: change.after.Mode, Hash: change.after.Hash}
			byContent[key] = place{byContent[key].gone, append(byContent[key].came, name)}
		}
	}
	for _, p := range byContent {
		if len(p.gone) != 1 || len(p.came) != 1 {
			continue
		}
		from, to := p.gone[0], p.came[0]
		change, changed := changes[from]
		if _, taken := changes[to]; !changed || taken {
			continue
		}
		if change.after.Mode == 0 { // gone on both sides, or moved elsewhere
			m.conflict(to, "one side has renamed "+from+" to it, the other has removed or renamed that file")
			continue
		}
		delete(changes, from)
		change.before.Name, change.after.Name = path.Base(to), path.Base(to)
		changes[to] = change
		move := moves[to]
		move.before = change.before
		moves[to] = move
	}
}

// file merges what both sides have done to one file.
func (m *treeMerger) file(name string, ours, theirs edit) (object.TreeEntry, error) {
	a, b, base := ours.after, theirs.after, ours.before
	switch {
	case a == b, b == theirs.before:
		return a, nil
	case a == base:
		return b, nil
	case a.Mode == 0 || b.Mode == 0:
		m.conflict(name, "one side has removed it, the other has changed it")
		return a, nil
	case !isBlob(a) || !isBlob(b):
		m.conflict(name, "both sides have changed it, and it is no regular file on both")
		return a, nil
	}
	merged := a
	switch {
	case a.Mode == b.Mode || b.Mode == base.Mode:
	case a.Mode == base.Mode:
		merged.Mode = b.Mode
	default:
		m.conflict(name, "both sides have changed its mode")
	}
	if a.Hash == b.Hash || b.Hash == base.Hash {
		return merged, nil
	}
	if a.Hash == base.Hash {
		merged.Hash = b.Hash
		return merged, nil
	}
	if !isBlob(base) {
		m.conflict(name, "both sides have added it, with different contents")
		return merged, nil
	}
	id, reason, err := m.content(base.Hash, a.Hash, b.Hash)
	if reason != "" {
		m.conflict(name, reason)
	}
	merged.Hash = id
	return merged, err
}

// content merges three contents; reason says why that cannot be done.
func (m *treeMerger) content(base, ours, theirs plumbing.Hash) (id plumbing.Hash, reason string, err error) {
	var texts [3]string
	for i, hash := range []plumbing.Hash{base, ours, theirs} {
		blob, err := m.view.file(hash)
		if err != nil {
			return ours, "", err
		}
		if blob.Size > maxMergedFile {
			return ours, fmt.Sprintf(
				"both sides have changed it, and it is larger than the %d MiB up to which files are merged",
				maxMergedFile>>20,
			), nil
		}
		data, err := m.view.blob(hash)
		if err != nil {
			return ours, "", err
		}
		texts[i] = string(data)
		if isBinary(texts[i]) {
			return ours, "both sides have changed it, and it is binary", nil
		}
	}
	merged, clean := mergeText(texts[0], texts[1], texts[2])
	if !clean {
		return ours, "both sides have changed the same lines, or lines next to each other", nil
	}
	id, err = m.view.storeBlob([]byte(merged))
	return id, "", err
}

func (m *treeMerger) conflict(name, reason string) {
	m.conflicts = append(m.conflicts, Conflict{Path: name, Reason: reason})
}

// write stores the tree with the files changed; names are relative to the prefix, an entry without a mode removes.
// A tree that holds nothing is the zero hash.
func (m *treeMerger) write(
	tree plumbing.Hash, files map[string]object.TreeEntry, prefix string,
) (plumbing.Hash, error) {
	if len(files) == 0 {
		return tree, nil
	}
	entries, err := m.view.entries(tree)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	below := map[string]map[string]object.TreeEntry{}
	for name, entry := range files {
		first, rest, _ := strings.Cut(name, "/")
		if below[first] == nil {
			below[first] = map[string]object.TreeEntry{}
		}
		below[first][rest] = entry
	}
	written := &object.Tree{}
	for _, entry := range entries {
		if _, touched := below[entry.Name]; !touched {
			written.Entries = append(written.Entries, entry)
		}
	}
	present := map[string]object.TreeEntry{}
	for _, entry := range entries {
		present[entry.Name] = entry
	}
	for name, inside := range below {
		entry, err := m.writeEntry(name, present[name], inside, prefix)
		if err != nil {
			return plumbing.ZeroHash, err
		}
		if entry.Mode != 0 {
			written.Entries = append(written.Entries, entry)
		}
	}
	if len(written.Entries) == 0 && prefix != "" {
		return plumbing.ZeroHash, nil
	}
	sort.Sort(object.TreeEntrySorter(written.Entries))
	return m.view.store(written.Encode)
}

// writeEntry returns what stands under a name; inside has the file itself under the empty name.
func (m *treeMerger) writeEntry(
	name string, entry object.TreeEntry, inside map[string]object.TreeEntry, prefix string,
) (object.TreeEntry, error) {
	var dir plumbing.Hash
	file := entry
	if entry.Mode == filemode.Dir {
		dir, file = entry.Hash, object.TreeEntry{}
	}
	if itself, touched := inside[""]; touched {
		file = itself
		delete(inside, "")
	}
	dir, err := m.write(dir, inside, prefix+name+"/")
	if err != nil {
		return object.TreeEntry{}, err
	}
	switch {
	case dir.IsZero():
		file.Name = name
		return file, nil
	case file.Mode != 0:
		m.conflict(prefix+name, "it is a file on one side and a directory on the other")
	}
	return object.TreeEntry{Name: name, Mode: filemode.Dir, Hash: dir}, nil
}

func isBlob(entry object.TreeEntry) bool {
	return entry.Mode == filemode.Regular || entry.Mode == filemode.Executable || entry.Mode == filemode.Deprecated
}
