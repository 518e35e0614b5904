// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pipedeck/pipedeck/system/owned"
)

// LeftError names what stays where it is: what the environment did not create, and states of Terraform that name
// resources elsewhere.
type LeftError struct {
	// Dir is the directory of the environment, Names are relative to it.
	Dir   string
	Names []string
}

// maxNamed bounds how many names an error shows.
const maxNamed = 10

func (e *LeftError) Error() string {
	shown := strings.Join(e.Names[:min(len(e.Names), maxNamed)], ", ")
	if more := len(e.Names) - maxNamed; more > 0 {
		shown += fmt.Sprintf(" and %d more", more)
	}
	if e.OnlyStates() {
		return fmt.Sprintf("%s holds Terraform states of resources that exist; left as they are: %s", e.Dir, shown)
	}
	return fmt.Sprintf("%s holds what pipedeck did not create; left as it is: %s", e.Dir, shown)
}

// OnlyStates reports whether nothing but states of Terraform is left.
func (e *LeftError) OnlyStates() bool {
	return !slices.ContainsFunc(e.Names, func(name string) bool { return !isState(name) })
}

// Remove deletes what the environment has created, item by item, and its directory when nothing else is left in it.
// Links are never followed. The caller holds the environment's lock and has stopped everything that uses the
// directory. The error is a *LeftError when something stays that the environment did not create; the directory
// remains an environment then, so that Remove can be called again.
func (w *Workspace) Remove(lock *Lock) error {
	if lock == nil || lock.dir != w.Dir {
		return fmt.Errorf("remove environment %s: its lock is not held", w.Name)
	}
	root, err := w.open()
	if err != nil {
		return fmt.Errorf("remove the environment's directory: %w", err)
	}
	defer root.Close()
	left, err := removeItems(root, ".", layout)
	if err != nil {
		return fmt.Errorf("remove the environment's directory: %w", err)
	}
	if len(left) > 0 {
		return &LeftError{w.Dir, left}
	}
	if err := removeMarked(w.Dir, root); err != nil {
		return fmt.Errorf("remove the environment's directory: %w", err)
	}
	return w.removeRoot()
}

// removeItems removes the items in a directory and returns the names of everything else in it.
func removeItems(root *os.Root, dir string, items []item) (left []string, err error) {
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil {
		return nil, err
	}
	var failures []error
	var marks []string
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		found, ok := itemOf(items, entry.Name(), entry.Type())
		switch {
		case entry.Name() == owned.MarkFile || entry.Name() == owned.LockFile:
			marks = append(marks, name)
		case !ok || !signed(root, name, found.sign) || found.stays != nil && found.stays(root, name):
			left = append(left, name)
		case found.kind == folderItem || found.kind == storeItem:
			more, err := removeItems(root, name, found.holds)
			left = append(left, more...)
			if err == nil && len(more) == 0 {
				err = root.Remove(name)
			}
			failures = append(failures, err)
		case found.kind == treeItem:
			failures = append(failures, removeTree(root, name))
		default:
			failures = append(failures, root.Remove(name))
		}
	}
	// A directory that keeps something stays ours, so that it can be removed or used again. Remove ends with the marks
	// of the environment's own directory.
	if dir != "." && len(left) == 0 {
		for _, name := range marks {
			failures = append(failures, root.Remove(name))
		}
	}
	return left, errors.Join(failures...)
}

// signed reports whether a thing carries the sign of its item.
func signed(root *os.Root, name, sign string) bool {
	if sign == "" {
		return true
	}
	info, err := root.Lstat(path.Join(name, sign))
	return err == nil && info.Mode().IsRegular()
}

// removeTree removes a directory with all it holds. A program may have taken its own write permission away.
func removeTree(root *os.Root, name string) error {
	if root.RemoveAll(name) == nil {
		return nil
	}
	err := fs.WalkDir(root.FS(), name, func(found string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			return root.Chmod(found, 0o700)
		}
		return err
	})
	return errors.Join(err, root.RemoveAll(name))
}

// RemoveTree removes the directory at path, with everything in it, from a directory of the calling user. Links are not
// followed. It is for directories that only the caller's program uses, such as a cache.
func RemoveTree(path string) error {
	return inParent(path, removeTree)
}

// RemoveCluster removes what an environment has stored about a cluster in dir (see ClusterDir), item by item. Anything
// else in the directory stays, and Remove names it.
func RemoveCluster(dir string) error { return removeStore(dir, clusterLayout) }

// RemoveHead removes what CreateHead has created, also in an earlier process that was killed.
func (w *Workspace) RemoveHead() error {
	return removeStore(w.Path("head"), []item{{pattern: headPrefix + "*", kind: treeItem}})
}

func removeStore(dir string, items []item) error {
	return inParent(dir, func(parent *os.Root, name string) error {
		info, err := parent.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			err = owned.Check(dir, info, true)
		}
		if err != nil {
			return err
		}
		left, err := removeItems(parent, name, items)
		if err == nil && len(left) == 0 {
			err = parent.Remove(name)
		}
		return err
	})
}

// inParent calls remove with the parent of a path, after its checks; without a parent there is nothing to remove.
func inParent(path string, remove func(parent *os.Root, name string) error) error {
	parent, err := owned.Open(filepath.Dir(path), nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer parent.Close()
	return remove(parent, filepath.Base(path))
}

// removeMarked removes a directory that holds its mark and its lock only. The mark goes first: without it, what is
// left counts as an empty directory. Another process may have begun to use the directory again; then it stays.
func removeMarked(dir string, root *os.Root) error {
	for _, name := range []string{owned.MarkFile, owned.LockFile} {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if err := syscall.Rmdir(dir); err != nil && !errors.Is(err, syscall.ENOTEMPTY) && !errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "remove", Path: dir, Err: err}
	}
	return nil
}

// removeRoot removes the directory of all environments when pipedeck has created it and this was the last one.
func (w *Workspace) removeRoot() error {
	dir := filepath.Dir(w.Dir)
	root, err := owned.OpenMarked(dir, rootMark, nil)
	if err != nil {
		return nil // it is gone, or it is the user's
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil || len(entries) != 1 {
		return err
	}
	return removeMarked(dir, root)
}
