// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package caches

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pipedeck/pipedeck/system/owned"
)

// outdatedAfter is how long a cache stays unused until it counts as outdated.
const outdatedAfter = 7 * 24 * time.Hour

// The kinds of caches. They are a contract for programs.
const (
	KindEmbedded = "embedded Kubernetes"
	KindImages   = "images"
	KindCharts   = "charts"
	KindPlugins  = "plugin programs"
	KindTools    = "tools"
	KindMirrors  = "mirrors of repositories"
)

// Entry is one cache. The names of the fields in JSON are a contract.
type Entry struct {
	Kind string `json:"kind"`
	// Path is the directory that holds the cache.
	Path string `json:"path"`
	// Bytes are those of the disk.
	Bytes int64 `json:"bytes"`
	// UsedAt is when something in it was written or used last, as far as the file system knows.
	UsedAt time.Time `json:"used_at"`
	// UsedBy names the environment or program that uses the cache; empty when it can be removed.
	UsedBy string `json:"used_by"`
	// Outdated says that the next start is not expected to need it.
	Outdated bool `json:"outdated"`
	// Removed says that Remove has removed it.
	Removed bool `json:"removed"`

	// names are the files and directories that belong to the cache, relative to Path.
	names []string
	// own says that Path holds nothing else, so that it goes, too.
	own bool
	// lock takes what others have to hold while they write to the cache; nil for none. It does not wait.
	lock func() (unlock func(), err error)
}

// ErrUsed says that a cache is used by a process that runs.
var ErrUsed = errors.New("it is in use")

// Caches knows where caches are.
type Caches struct {
	// CacheDir is pipedeck's directory in the user's cache, PipedDir the default work directory of a piped that runs
	// alone, StateDir the directory of environments. None of them need exist.
	CacheDir, PipedDir, StateDir string
	// Embedded is the program of the embedded Kubernetes that this pipedeck would start; empty when that is unknown.
	Embedded string
	// Programs returns the executable files of the processes of this user.
	Programs func(context.Context) ([]string, error)
	Now      func() time.Time
}

// List returns the caches that are there, in a fixed order. Errors are about single places; the rest is listed.
func (c *Caches) List(ctx context.Context) ([]*Entry, error) {
	live, err := c.live()
	if err != nil {
		return nil, err
	}
	running, err := c.Programs(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the programs that run: %w", err)
	}
	var all []*Entry
	var failures []error
	for _, list := range []func() ([]*Entry, error){
		func() ([]*Entry, error) { return c.embedded(running) },
		func() ([]*Entry, error) { return c.shared(KindImages, "images", imageNames, live) },
		func() ([]*Entry, error) { return c.shared(KindCharts, "charts", chartNames, live) },
		c.ofPiped,
		c.ofEnvironments,
	} {
		found, err := list()
		all, failures = append(all, found...), append(failures, err)
	}
	return all, errors.Join(failures...)
}

// Remove removes an entry of List. The error is ErrUsed when another process has begun to use it.
func (c *Caches) Remove(e *Entry) error {
	if e.UsedBy != "" {
		return ErrUsed
	}
	if e.lock != nil {
		unlock, err := e.lock()
		if err != nil {
			return err
		}
		defer unlock()
	}
	root, err := owned.Open(e.Path, nil)
	if err != nil {
		return err
	}
	defer root.Close()
	var failures []error
	for _, name := range e.names {
		failures = append(failures, removeTree(root, name))
	}
	if err := errors.Join(failures...); err != nil {
		return err
	}
	e.Removed = true
	if e.own {
		// What another program has put there meanwhile stays, and so does the directory.
		_ = os.Remove(e.Path)
	}
	return nil
}

// removeTree removes a file or a directory with all it holds, also where the user may not write.
func removeTree(root *os.Root, name string) error {
	if root.RemoveAll(name) == nil {
		return nil
	}
	err := fs.WalkDir(root.FS(), filepath.ToSlash(name), func(found string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			return root.Chmod(found, 0o700)
		}
		return err
	})
	return errors.Join(err, root.RemoveAll(name))
}

// entry measures the named things in a directory; nil when there are none.
func (c *Caches) entry(kind, dir string, names []string) (*Entry, error) {
	if len(names) == 0 {
		return nil, nil
	}
	slices.Sort(names)
	e := &Entry{Kind: kind, Path: dir, names: names}
	m := measure{seen: map[fileID]bool{}}
	for _, name := range names {
		if err := m.add(filepath.Join(dir, name)); err != nil {
			return nil, fmt.Errorf("measure %s: %w", filepath.Join(dir, name), err)
		}
	}
	e.Bytes, e.UsedAt = m.bytes, m.newest
	e.Outdated = c.Now().Sub(e.UsedAt) > outdatedAfter
	return e, nil
}
