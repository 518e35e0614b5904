// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/pipedeck/pipedeck/devenv/gitobjects"
)

// maxContent bounds in bytes what Content reads of one file.
const maxContent = 8 << 20

// Files are the files of a repository at Head, by slash-separated paths from its root. Directories are read when they
// are asked for. Symbolic links count as absent. It is for one goroutine.
type Files struct {
	repository *gitobjects.Repository
	root       plumbing.Hash
	read       map[string]map[string]gitobjects.Entry
}

// Files returns the files at Head.
func (r *Repository) Files() (*Files, error) {
	repo, err := r.open()
	if err != nil {
		return nil, fmt.Errorf("open the Git repository %s: %w", r.Root, err)
	}
	commit, err := repo.Commit(plumbing.NewHash(r.Head))
	if err != nil {
		return nil, damaged(r.Root, err)
	}
	return &Files{repository: repo, root: commit.Tree, read: map[string]map[string]gitobjects.Entry{}}, nil
}

// Kind says what there is.
func (f *Files) Kind(name string) (isFile, isFolder bool) {
	if path.Clean(name) == "." {
		return false, true
	}
	entry, found := f.entry(name)
	return found && entry.Mode.IsFile() && entry.Mode != filemode.Symlink, found && entry.Mode == filemode.Dir
}

// Content returns a file of at most 8 MiB.
func (f *Files) Content(name string) ([]byte, error) {
	if is, _ := f.Kind(name); !is {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	entry, _ := f.entry(name)
	blob, err := f.repository.Blob(entry.Hash)
	if err != nil {
		return nil, err
	}
	if blob.Size() > maxContent {
		return nil, fmt.Errorf("%s is larger than %d MiB", name, maxContent>>20)
	}
	return gitobjects.Content(blob)
}

// Files are the base names of the files directly in a folder, in no order.
func (f *Files) Files(folder string) (names []string) {
	for name := range f.folder(folder) {
		if is, _ := f.Kind(path.Join(folder, name)); is {
			names = append(names, name)
		}
	}
	return names
}

func (f *Files) entry(name string) (gitobjects.Entry, bool) {
	name = path.Clean(name)
	if name == ".." || strings.HasPrefix(name, "../") || path.IsAbs(name) {
		return gitobjects.Entry{}, false
	}
	entry, found := f.folder(path.Dir(name))[path.Base(name)]
	return entry, found
}

// folder returns the entries of a folder; nil for what is none or cannot be read, which deploying it reports.
func (f *Files) folder(name string) map[string]gitobjects.Entry {
	name = path.Clean(name)
	if known, is := f.read[name]; is {
		return known
	}
	tree := f.root
	if name != "." {
		entry, found := f.entry(name)
		if !found || entry.Mode != filemode.Dir {
			return nil
		}
		tree = entry.Hash
	}
	list, err := f.repository.Tree(tree)
	if err != nil {
		return nil
	}
	entries := make(map[string]gitobjects.Entry, len(list))
	for _, entry := range list {
		entries[entry.Name] = entry
	}
	f.read[name] = entries
	return entries
}
