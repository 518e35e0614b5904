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
)

// share gives a file that has the wanted content the wanted name, too, and reports whether it could. Such files are the
// copies for other plugins, since several plugins may be one program, and a source that no one writes to, as releases
// install it. A source that can be written stays apart: a compiler that writes to it would change a program that runs.
func share(source, dir string, wanted binary) bool {
	files, _ := filepath.Glob(filepath.Join(dir, "*-"+wanted.hash[:16]))
	if path, err := filepath.EvalSymlinks(source); err == nil {
		if info, err := os.Stat(path); err == nil && readOnly(info) {
			files = append(files, path)
		}
	}
	for _, path := range files {
		if path == wanted.path || !(binary{path: path, hash: wanted.hash}).whole() {
			continue
		}
		if linkAtomically(path, wanted.path) == nil {
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
	return func() { _ = file.Close() }, nil
}

// linkAtomically makes path another name of a file, in place of what is there.
func linkAtomically(file, path string) error {
	partial, err := os.MkdirTemp(filepath.Dir(path), ".fetch-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(partial)
	link := filepath.Join(partial, "program")
	if err := os.Link(file, link); err != nil {
		return err
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
