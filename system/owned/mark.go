// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// MarkFile is the file that marks a directory as one of ours.
const MarkFile = ".pipedeck"

// maxMark bounds what is read of a mark.
const maxMark = 4 << 10

// Claim opens the directory of the calling user that carries the mark, a line of text, and creates and marks it when it
// does not exist. An empty directory counts as new; LockFile and what file systems put into theirs do not fill it. Any
// other directory is an *Error and stays as it is. warn is that of Open.
func Claim(path, mark string, warn func(string)) (*os.Root, error) {
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	root, err := open(path)
	if err != nil {
		return nil, err
	}
	if err := claim(root, path, mark, warn); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

func claim(root *os.Root, path, mark string, warn func(string)) error {
	marked, err := isMarked(root, path, mark)
	if err != nil {
		return err
	}
	if marked {
		return closeToOthers(root, path, warn)
	}
	empty, err := isEmpty(root)
	if err != nil {
		return err
	}
	if !empty {
		return foreign(path)
	}
	if err := closeToOthers(root, path, nil); err != nil {
		return err
	}
	return writeMark(root, mark)
}

// OpenMarked opens a directory as Claim does, but creates and marks nothing. The error is fs.ErrNotExist when there is
// no directory, or one that Claim would take as new.
func OpenMarked(path, mark string, warn func(string)) (*os.Root, error) {
	root, err := open(path)
	if err != nil {
		return nil, err
	}
	marked, err := isMarked(root, path, mark)
	if err == nil && !marked {
		var empty bool
		if empty, err = isEmpty(root); err == nil {
			if err = foreign(path); empty {
				err = &fs.PathError{Op: "open", Path: filepath.Join(path, MarkFile), Err: fs.ErrNotExist}
			}
		}
	}
	if err == nil {
		err = closeToOthers(root, path, warn)
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

func foreign(path string) error {
	return &Error{path, "was not created by pipedeck and is not empty; it is left as it is",
		"choose another directory, or an empty one"}
}

// isMarked returns whether the directory carries the mark. A mark of another text is an *Error.
func isMarked(root *os.Root, path, mark string) (bool, error) {
	name := filepath.Join(path, MarkFile)
	info, err := root.Lstat(MarkFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if err := Check(name, info, false); err != nil {
		return false, err
	}
	file, err := root.Open(MarkFile)
	if err != nil {
		return false, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxMark))
	if err != nil {
		return false, err
	}
	if len(data) == 0 {
		return false, nil
	}
	found, _, _ := strings.Cut(string(data), "\n")
	if found != mark {
		return false, &Error{path, fmt.Sprintf("is marked as %q, not as %q; it is left as it is", found, mark),
			"choose another directory"}
	}
	return true, nil
}

// writeMark may run in several processes at once: they write the same. The mark is on the disk before anything else is
// put into the directory: after a power cut a directory without it would be a stranger's.
func writeMark(root *os.Root, mark string) error {
	file, err := root.OpenFile(MarkFile, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(file, "%s\nCreated by pipedeck, which removes from this directory what it has put here.\n",
		mark)
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	names, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(names.Sync(), names.Close())
}

// LockFile is the name of the lock in a marked directory. It may be there before the mark and after it.
const LockFile = "lock"

// isEmpty returns whether nothing in the directory is worth keeping.
func isEmpty(root *os.Root) (bool, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return false, err
	}
	for _, entry := range entries {
		switch entry.Name() {
		case "lost+found", ".DS_Store":
		case LockFile, MarkFile:
			// A mark without a text is of a process that was killed while it wrote.
			if info, err := entry.Info(); err != nil || !info.Mode().IsRegular() || info.Size() > 0 {
				return false, err
			}
		default:
			return false, nil
		}
	}
	return true, nil
}
