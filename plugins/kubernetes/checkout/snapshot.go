// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package checkout

import (
	"crypto/sha256"
	"io/fs"
	"maps"
	"path/filepath"
)

// Fingerprint is a digest of what was found; the zero value is that nothing was there.
type Fingerprint = [sha256.Size]byte

// look is one question that was asked of a checkout.
type look struct {
	what what
	// path is below the root, as it was asked for.
	path string
}

type what byte

const (
	content what = iota
	listing
	resolution
)

func (t *Tree) remember(what what, path string, found Fingerprint) {
	rel, err := t.relative(path)
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen[look{what, rel}] = found
}

// Snapshot is all that a Tree was asked, with the answers.
type Snapshot struct{ seen map[look]Fingerprint }

// Seen returns what was asked so far.
func (t *Tree) Seen() Snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Snapshot{seen: maps.Clone(t.seen)}
}

// Same reports whether a checkout gives the same answers: the files that were read have the same content, those that
// were not there are not there, and folders list the same names.
func (s Snapshot) Same(root string) bool {
	t, err := Open(root)
	if err != nil {
		return false
	}
	for l, want := range s.seen {
		if got, err := t.ask(l); err != nil || got != want {
			return false
		}
	}
	return true
}

func (t *Tree) ask(l look) (Fingerprint, error) {
	path := filepath.Join(t.real, l.path)
	switch l.what {
	case content:
		data, err := t.ReadFile(path)
		return sha256.Sum256(data), err
	case listing:
		entries, err := t.List(path)
		return listingOf(entries), err
	default:
		_, err := t.Resolve(path)
		return t.seen[l], err
	}
}

// Size is about how many bytes of memory it takes.
func (s Snapshot) Size() int {
	size := 0
	for l := range s.seen {
		size += len(l.path) + 2*sha256.Size + 32
	}
	return size
}

func listingOf(entries []fs.DirEntry) Fingerprint {
	sum := sha256.New()
	for _, e := range entries {
		sum.Write([]byte{byte(e.Type() >> 24)})
		sum.Write([]byte(e.Name()))
		sum.Write([]byte{0})
	}
	return Fingerprint(sum.Sum(nil))
}
