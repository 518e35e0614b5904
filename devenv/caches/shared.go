// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/filelock"
	"github.com/pipedeck/pipedeck/system/owned"
)

// The names in the caches that all environments of the user share. Whatever else is there belongs to someone else.
var (
	programDirs = regexp.MustCompile(`^[0-9a-f]{16}$`)
	imageNames  = regexp.MustCompile(`^[0-9a-f]{64}\.(tar|program)$|^partial-[0-9]+$`)
	chartNames  = regexp.MustCompile(`^[0-9a-f]{64}-[0-9a-f]{64}$`)
)

// embeddedFiles are what a compilation of the embedded Kubernetes leaves in its directory.
var embeddedFiles = []string{"embeddedk8s", "embeddedk8s.partial", "sources", owned.LockFile}

// live returns the names of the environments that run.
func (c *Caches) live() ([]string, error) {
	all, _, err := workspace.List(c.StateDir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, w := range all {
		// One that cannot be looked at may run.
		if alive, err := w.Alive(); alive || err != nil {
			names = append(names, w.Name)
		}
	}
	return names, nil
}

// embedded returns the compiled programs of the embedded Kubernetes, each a directory.
func (c *Caches) embedded(running []string) ([]*Entry, error) {
	dir := filepath.Join(c.CacheDir, "embeddedk8s")
	names, err := matching(dir, programDirs)
	if err != nil {
		return nil, err
	}
	var found []*Entry
	for _, name := range names {
		at := filepath.Join(dir, name)
		if left, err := othersIn(at, embeddedFiles); err != nil || len(left) > 0 {
			continue // it is not as a compilation leaves it
		}
		e, err := c.entry(KindEmbedded, dir, []string{name})
		if err != nil {
			return found, err
		}
		program := filepath.Join(at, embeddedFiles[0])
		e.Path, e.names, e.own, e.Outdated = at, embeddedFiles, true, program != c.Embedded
		if slices.Contains(running, program) {
			e.UsedBy = "a cluster that runs"
		}
		e.lock = func() (func(), error) { return flock(filepath.Join(at, owned.LockFile)) }
		found = append(found, e)
	}
	return found, nil
}

// shared returns one of the caches whose files any environment may be about to read.
func (c *Caches) shared(kind, folder string, names *regexp.Regexp, live []string) ([]*Entry, error) {
	dir := filepath.Join(c.CacheDir, folder)
	matched, err := matching(dir, names)
	if err != nil {
		return nil, err
	}
	e, err := c.entry(kind, dir, matched)
	if e == nil || err != nil {
		return nil, err
	}
	if len(live) > 0 {
		e.UsedBy = "environment " + strings.Join(live, ", ")
	}
	e.lock = func() (func(), error) { return flock(filepath.Join(dir, owned.LockFile)) }
	return []*Entry{e}, nil
}

// matching returns the names in a directory of this user; none when there is no directory.
func matching(dir string, names *regexp.Regexp) ([]string, error) {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil {
		err = owned.Check(dir, info, true)
	}
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, entry := range entries {
		if names.MatchString(entry.Name()) && entry.Type()&fs.ModeSymlink == 0 {
			found = append(found, entry.Name())
		}
	}
	return found, nil
}

// othersIn returns the names in a directory that are not among the known ones.
func othersIn(dir string, known []string) ([]string, error) {
	info, err := os.Lstat(dir)
	if err == nil {
		err = owned.Check(dir, info, true)
	}
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var others []string
	for _, entry := range entries {
		if !slices.Contains(known, entry.Name()) {
			others = append(others, entry.Name())
		}
	}
	return others, nil
}

// flock takes a lock file or returns ErrUsed at once.
func flock(path string) (unlock func(), err error) {
	file, err := owned.OpenFile(path, os.O_CREATE|os.O_RDWR)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		file.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, ErrUsed
		}
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { _ = filelock.Release(file) }, nil
}
