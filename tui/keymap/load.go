// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package keymap

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Load reads the key file at path. Mistakes in it are part of the result; the error says why it cannot be read, and is
// os.ErrNotExist when there is none. A link is followed inside the file's directory only.
func Load(path string) (File, error) {
	content, err := read(path)
	if err != nil {
		return File{}, fmt.Errorf("read key file %s: %w", path, err)
	}
	return Parse(content, path), nil
}

// cause returns an error of the system without the name of the file, which Load says.
func cause(err error) error {
	if system := (*fs.PathError)(nil); errors.As(err, &system) {
		return system.Err
	}
	return err
}

func read(path string) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, cause(err)
	}
	defer root.Close()
	// Without waiting: a pipe without a writer would block.
	file, err := root.OpenFile(filepath.Base(path), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		if _, outside := os.Stat(path); outside == nil && !os.IsPermission(err) {
			return nil, fmt.Errorf("a link that leads out of its directory is not followed: %w", cause(err))
		}
		return nil, cause(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, cause(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return io.ReadAll(io.LimitReader(file, MaxSize+1))
}
