// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/pipedeck/pipedeck/piped/source/render"
)

// maxLinks bounds the links that lead to a file, as systems do.
const maxLinks = 40

// folder gives access to the files of an application; os.Root refuses every path that leaves it, by name or by
// link.
type folder struct{ root *os.Root }

// read returns the content and the permissions of a file, with slashes in its name.
func (f folder) read(name string) (string, fs.FileMode, error) {
	file, err := f.root.Open(filepath.FromSlash(name))
	if err != nil {
		return "", 0, reason(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", 0, reason(err)
	}
	if !info.Mode().IsRegular() {
		return "", 0, errors.New("it is not a file")
	}
	content, err := io.ReadAll(io.LimitReader(file, render.MaxTemplate+1))
	if err != nil {
		return "", 0, reason(err)
	}
	if len(content) > render.MaxTemplate {
		return "", 0, fmt.Errorf("it is larger than %d MiB", render.MaxTemplate>>20)
	}
	return string(content), info.Mode().Perm(), nil
}

// write puts a new file in the place of the one that the name, or the links there, lead to. The old
// content is not touched: other checkouts may share it. No one else may read the new file; the execute
// bit is kept.
func (f folder) write(name, content string, mode fs.FileMode) error {
	name, err := f.follow(name)
	if err != nil {
		return err
	}
	temporary := path.Join(path.Dir(name), ".pipedeck-"+rand.Text())
	file, err := f.root.OpenFile(filepath.FromSlash(temporary), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600|mode&0o100)
	if err != nil {
		return reason(err)
	}
	_, err = io.WriteString(file, content)
	err = errors.Join(err, file.Close())
	if err == nil {
		err = f.root.Rename(filepath.FromSlash(temporary), filepath.FromSlash(name))
	}
	if err != nil {
		return errors.Join(err, f.root.Remove(filepath.FromSlash(temporary)))
	}
	return nil
}

// follow finds the file behind a name whose last part may be a link.
func (f folder) follow(name string) (string, error) {
	for range maxLinks {
		info, err := f.root.Lstat(filepath.FromSlash(name))
		if err != nil {
			return "", reason(err)
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			return name, nil
		}
		target, err := f.root.Readlink(filepath.FromSlash(name))
		if err != nil {
			return "", reason(err)
		}
		name = path.Join(path.Dir(name), filepath.ToSlash(target))
	}
	return "", fmt.Errorf("%s: too many links", name)
}

// reason is the cause without the directory of piped, which means nothing to the user.
func reason(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
