// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/pipedeck/pipedeck/system/filelock"
)

// share gives a file that has the wanted content the wanted name, too, and reports whether it could. Such files are the
// copies for other plugins, since several plugins may be one program, and a source that no one writes to, as releases
// install it, and as the environment builds plugins. A source that can be written stays apart: a compiler that writes
// to it would change a program that runs. read is the state of the source before its content was read.
func share(source string, read identity, dir string, wanted binary) bool {
	if path, err := filepath.EvalSymlinks(source); err == nil {
		info, err := os.Stat(path)
		// Nothing has changed, so that its content need not be read again.
		if now, found := identify(path); err == nil && readOnly(info) && found && now == read &&
			linkAtomically(path, info, wanted.path) == nil {
			return true
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*-"+wanted.hash[:16]))
	for _, path := range files {
		info, err := os.Lstat(path)
		if err != nil || path == wanted.path || !(binary{path: path, hash: wanted.hash}).whole() {
			continue
		}
		if linkAtomically(path, info, wanted.path) == nil {
			return true
		}
	}
	return false
}

// lockDirectory waits until no other copy is made in a directory. It also holds off other processes.
func lockDirectory(dir string) (unlock func(), err error) {
	file, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(file.Fd()), unix.LOCK_EX)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() { _ = filelock.Release(file) }, nil
}

var errReplaced = errors.New("the file was replaced")

// linkAtomically makes path another name of a file, in place of what is there. It fails when another file has taken the
// place of the one with this information.
func linkAtomically(file string, is fs.FileInfo, path string) error {
	partial, err := os.MkdirTemp(filepath.Dir(path), ".fetch-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(partial)
	link := filepath.Join(partial, "program")
	if err := os.Link(file, link); err != nil {
		return err
	}
	linked, err := os.Lstat(link)
	if err != nil {
		return err
	}
	if !os.SameFile(linked, is) {
		return errReplaced
	}
	if info, err := os.Lstat(path); err == nil && info.IsDir() {
		_ = os.Remove(path) // a file can take the place of anything else
	}
	return os.Rename(link, path)
}

// readOnly reports whether no one may write to a file.
func readOnly(info fs.FileInfo) bool { return info.Mode().Perm()&0o222 == 0 }

// openUnchanged opens a file and follows no link.
func openUnchanged(path string, flag int) (*os.File, error) {
	return os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
