// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package checkout

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

const (
	// MaxFile bounds one file, in bytes. An object stored by Kubernetes is at most 1.5 MB.
	MaxFile = 32 << 20
	// maxTotal bounds what one Tree reads, in bytes: a chart with its dependencies has at most 100 MiB.
	maxTotal = 256 << 20
)

// Tree is a checkout. It may be used by several goroutines.
type Tree struct {
	// given is the root as the caller names it, real the same without symbolic links.
	given, real string

	mu   sync.Mutex
	left int64 // bytes that may still be read
	seen map[look]Fingerprint
}

// Open creates a Tree of a directory.
func Open(root string) (*Tree, error) {
	given, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("open the checkout: %w", err)
	}
	real, err := filepath.EvalSymlinks(given)
	if err != nil {
		return nil, fmt.Errorf("open the checkout: %w", err)
	}
	return &Tree{given: given, real: real, left: maxTotal, seen: map[look]Fingerprint{}}, nil
}

// Root is the directory, symbolic links followed.
func (t *Tree) Root() string { return t.real }

// ReadFile reads a file whole.
func (t *Tree) ReadFile(path string) ([]byte, error) {
	real, err := t.Resolve(path)
	if err != nil {
		return nil, err
	}
	data, err := t.read(real)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name(path), plain(err))
	}
	t.remember(content, path, sha256.Sum256(data))
	return data, nil
}

func (t *Tree) read(real string) ([]byte, error) {
	file, err := os.Open(real)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxFile {
		return nil, fmt.Errorf("larger than the %d MiB that a file may have", MaxFile>>20)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.left -= int64(len(data)); t.left < 0 {
		return nil, fmt.Errorf("more than %d MiB of files are used by one application", maxTotal>>20)
	}
	return data, nil
}

// List returns the entries of a folder, sorted by name.
func (t *Tree) List(folder string) ([]fs.DirEntry, error) {
	real, err := t.Resolve(folder)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(real)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", t.Name(folder), plain(err))
	}
	t.remember(listing, folder, listingOf(entries))
	return entries, nil
}

// Kind is what is found at a path.
type Kind int

// Kinds. What is neither a file nor a folder is Missing.
const (
	Missing Kind = iota
	File
	Folder
)

// Kind reports what is at a path, symbolic links followed. What is outside of the checkout is Missing.
func (t *Tree) Kind(path string) Kind {
	real, err := t.Resolve(path)
	if err != nil {
		return Missing
	}
	info, err := os.Stat(real)
	switch {
	case err == nil && info.IsDir():
		return Folder
	case err == nil && info.Mode().IsRegular():
		return File
	}
	return Missing
}

// Resolve returns the real path of an absolute one. One that does not exist is given as it is, so that opening it
// fails.
func (t *Tree) Resolve(path string) (string, error) {
	lexical, err := t.relative(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(filepath.Join(t.real, lexical))
	if errors.Is(err, fs.ErrNotExist) {
		t.remember(resolution, path, Fingerprint{})
		return filepath.Join(t.real, lexical), nil
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", t.Name(path), plain(err))
	}
	within, err := filepath.Rel(t.real, real)
	if err != nil || !filepath.IsLocal(within) {
		return "", &OutsideError{Path: t.Name(path)}
	}
	t.remember(resolution, path, sha256.Sum256([]byte(within)))
	return real, nil
}

// OutsideError is that a path leads out of the checkout.
type OutsideError struct{ Path string }

func (e *OutsideError) Error() string { return e.Path + " is outside of the repository" }

// Name is a path as it stands in the repository, or how it leads out of it.
func (t *Tree) Name(path string) string {
	for _, root := range []string{t.given, t.real} {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	if rel, err := filepath.Rel(t.given, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}

// relative is a path below the root, which may be written in both ways.
func (t *Tree) relative(path string) (string, error) {
	for _, root := range []string{t.given, t.real} {
		if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
			return rel, nil
		}
	}
	return "", &OutsideError{Path: t.Name(path)}
}

// Plain shortens the paths in a message to what stands in the repository.
func (t *Tree) Plain(message string) string {
	for _, root := range []string{t.real, t.given} {
		message = strings.ReplaceAll(strings.ReplaceAll(message, root+string(filepath.Separator), ""), root, ".")
	}
	return message
}

// plain leaves the path away that an error of package os names, which is that of a temporary directory.
func plain(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
