// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package sources reads the sources of the embedded Kubernetes, and names their state by a digest. pipedeck is built
// with the digest of the sources next to its own, and compiles only sources that have it: a directory of the same name
// in someone else's repository is no more than a directory.
package sources

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
)

const (
	// maxFiles and maxBytes bound what is read: many times what the module has.
	maxFiles = 5000
	maxBytes = 64 << 20
)

// Files are the contents of the files that the program is made of, by their slash-separated paths in the module.
type Files map[string][]byte

// Read reads the module in dir: go.mod, go.sum, the Go files that are not tests, and the YAML files
// that they embed. Links are not followed.
func Read(dir string) (Files, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files, size := Files{}, int64(0)
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || !wanted(name) {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if size += info.Size(); size > maxBytes || len(files) >= maxFiles {
			return fmt.Errorf("there are more than %d files or %d MiB", maxFiles, maxBytes>>20)
		}
		files[name], err = root.ReadFile(name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the sources in %s: %w", dir, err)
	}
	return files, nil
}

func wanted(name string) bool {
	switch path.Ext(name) {
	case ".go":
		return !strings.HasSuffix(name, "_test.go")
	case ".yaml": // embedded into the program
		return !strings.Contains(name, "testdata/")
	}
	return name == "go.mod" || name == "go.sum"
}

// Digest names the state of the files: 64 hexadecimal digits, the same on every system.
func (f Files) Digest() string {
	h := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(f)) {
		fmt.Fprintf(h, "%q %d\n", name, len(f[name]))
		h.Write(f[name])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Write writes the files into dir, which is empty or does not exist.
func (f Files) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, content := range f {
		if err := root.MkdirAll(path.Dir(name), 0o700); err != nil {
			return err
		}
		if err := root.WriteFile(name, content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
