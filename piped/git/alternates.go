// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/storer"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

const (
	// maxAlternates bounds how far one repository borrows from another that borrows again. Git: 5.
	maxAlternates = 5
	// maxAlternatesFile bounds the file that names the lenders, in bytes.
	maxAlternatesFile = 64 << 10
)

// alternates is the file that names the object directories that a repository borrows from, in the
// directory that holds "objects".
const alternates = "objects/info/alternates"

// objects reads from a repository and from those that it borrows objects from (git clone --shared, snapshots
// of a working tree). go-git would open the lenders again for each object.
type objects struct {
	storer.EncodedObjectStorer
	lenders []storer.EncodedObjectStorer
	// dirs are the folders of all objects, where each may have its own file.
	dirs []string
}

// openObjects opens what the repository at dir reads its objects from.
func openObjects(dir string, own *filesystem.Storage) (*objects, error) {
	o := &objects{EncodedObjectStorer: own, dirs: []string{filepath.Join(dir, "objects")}}
	seen := map[string]bool{filepath.Join(dir, "objects"): true}
	return o, o.borrow(filepath.Join(dir, "objects"), seen, 0)
}

func (o *objects) borrow(from string, seen map[string]bool, depth int) error {
	dirs, err := lendersOf(from)
	if err != nil || depth == maxAlternates {
		return err
	}
	for _, dir := range dirs {
		// One that is gone may not be needed; git ignores it, too.
		if info, err := os.Stat(dir); seen[dir] || err != nil || !info.IsDir() {
			continue
		}
		seen[dir] = true
		o.dirs = append(o.dirs, dir)
		o.lenders = append(o.lenders, newStorage(filepath.Dir(dir), filepath.Base(dir)))
		if err := o.borrow(dir, seen, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func lendersOf(dir string) ([]string, error) {
	file, err := os.Open(filepath.Join(dir, "info", "alternates"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, maxAlternatesFile))
	var dirs []string
	for line := range strings.Lines(string(content)) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if quoted, err := strconv.Unquote(line); err == nil && line[0] == '"' {
			line = quoted
		}
		dirs = append(dirs, filepath.Clean(absolute(dir, line)))
	}
	return dirs, err
}

// newStorage opens the repository at dir, whose objects are in the folder of that name, by themselves.
func newStorage(dir, folder string) *filesystem.Storage {
	files := &ownFiles{Filesystem: osfs.New(dir, osfs.WithBoundOS()), folder: folder}
	return filesystem.NewStorageWithOptions(
		files, cache.NewObjectLRU(cacheSize), filesystem.Options{LargeObjectThreshold: largeObject},
	)
}

// ownFiles hides from go-git that objects are borrowed, and that their folder may have another name.
type ownFiles struct {
	billy.Filesystem
	folder string
}

func (u *ownFiles) path(name string) (string, error) {
	name = filepath.ToSlash(name)
	if name == "objects" {
		return u.folder, nil
	}
	if name == alternates {
		return "", os.ErrNotExist
	}
	if rest, ok := strings.CutPrefix(name, "objects/"); ok && u.folder != "objects" {
		return filepath.Join(u.folder, rest), nil
	}
	return name, nil
}

func (u *ownFiles) Open(name string) (billy.File, error) {
	path, err := u.path(name)
	if err != nil {
		return nil, err
	}
	return u.Filesystem.Open(path)
}

func (u *ownFiles) Stat(name string) (os.FileInfo, error) {
	path, err := u.path(name)
	if err != nil {
		return nil, err
	}
	return u.Filesystem.Stat(path)
}

func (u *ownFiles) ReadDir(name string) ([]os.FileInfo, error) {
	path, err := u.path(name)
	if err != nil {
		return nil, err
	}
	return u.Filesystem.ReadDir(path)
}

// EncodedObject looks at the repository first.
func (o *objects) EncodedObject(kind plumbing.ObjectType, id plumbing.Hash) (plumbing.EncodedObject, error) {
	return first(
		o, func(s storer.EncodedObjectStorer) (plumbing.EncodedObject, error) { return s.EncodedObject(kind, id) },
	)
}

// HasEncodedObject looks at all of them.
func (o *objects) HasEncodedObject(id plumbing.Hash) error {
	_, err := first(
		o, func(s storer.EncodedObjectStorer) (struct{}, error) { return struct{}{}, s.HasEncodedObject(id) },
	)
	return err
}

// EncodedObjectSize looks at the repository first.
func (o *objects) EncodedObjectSize(id plumbing.Hash) (int64, error) {
	return first(o, func(s storer.EncodedObjectStorer) (int64, error) { return s.EncodedObjectSize(id) })
}

func first[T any](o *objects, ask func(storer.EncodedObjectStorer) (T, error)) (T, error) {
	found, err := ask(o.EncodedObjectStorer)
	for _, lender := range o.lenders {
		if !errors.Is(err, plumbing.ErrObjectNotFound) {
			break
		}
		found, err = ask(lender)
	}
	return found, err
}
