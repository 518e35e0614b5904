// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package image

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Releases hold the programs of the samples, compiled beforehand, so that a machine without Go has them. Each lies in a
// folder for its platform and has the digest of its sources as its name.

// compileInto compiles a program for the directory of Builder.Installed. It overwrites nothing.
func compileInto(ctx context.Context, s *Sources, p Platform, dir string) error {
	path := installedPath(dir, s, p)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("make the directory of programs: %w", err)
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("compile %s: %s exists", s.Folder, path)
	}
	return compile(ctx, s, p, path)
}

func installedPath(dir string, s *Sources, p Platform) string {
	return filepath.Join(dir, p.OS+"-"+p.Architecture, s.Digest)
}

// installed returns the program of exactly these sources that was compiled beforehand; "" for none.
func (b *Builder) installed(s *Sources, p Platform) (path string, info fs.FileInfo) {
	if b.Installed == "" {
		return "", nil
	}
	path = installedPath(b.Installed, s, p)
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 || info.Mode().Perm()&0o022 != 0 {
		return "", nil
	}
	return path, info
}

// compiler names what makes the program: the version of Go, or the file that was compiled beforehand.
func (b *Builder) compiler(s *Sources, p Platform) string {
	if _, info := b.installed(s, p); info != nil {
		return fmt.Sprintf("installed %d %d", info.Size(), info.ModTime().UnixNano())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.version
}

// CompileAll compiles the programs that references name in a repository, for the directory of
// Builder.Installed. It asks the go command, and overwrites nothing.
func CompileAll(ctx context.Context, repository string, references []string, platforms []Platform, dir string) error {
	for _, reference := range slices.Compact(slices.Sorted(slices.Values(references))) {
		sources, err := FindSources(repository, reference)
		if err != nil {
			return err
		}
		if sources == nil {
			return fmt.Errorf("%s is not built from %s", reference, repository)
		}
		for _, p := range platforms {
			if err := compileInto(ctx, sources, p, dir); err != nil {
				return err
			}
		}
	}
	return nil
}
