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

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/owned"
)

// part is a directory below the work directory of a piped that piped fills again.
type part struct {
	kind, folder string
	names        *regexp.Regexp
	// kept says that only Remove with everything removes it: without a network it cannot be created again.
	kept bool
}

// The names are those that piped gives; see the packages pluginhost, fetch, pluginservice and git.
var pipedParts = []part{
	{KindPlugins, "plugins", regexp.MustCompile(`^.+-[0-9a-f]{16}$|^\.fetch-[0-9]+$|^fetched$`), false},
	{KindTools, "tools", regexp.MustCompile(`^[^.].*-.+$|^\.install-[0-9]+$`), false},
	{KindMirrors, "repositories", regexp.MustCompile(`^[^.].*$`), true},
}

// pipedMark is the mark of a work directory.
const pipedMark = "pipedeck work directory of piped"

// ofPiped returns the caches of a piped that runs alone.
func (c *Caches) ofPiped() ([]*Entry, error) {
	lock := func() (func(), error) { return flock(filepath.Join(c.PipedDir, owned.LockFile)) }
	return c.inWorkDir(c.PipedDir, "a piped that runs", lock)
}

// ofEnvironments returns the caches in the directories of environments.
func (c *Caches) ofEnvironments() ([]*Entry, error) {
	all, _, err := workspace.List(c.StateDir)
	if err != nil {
		return nil, err
	}
	var found []*Entry
	var failures []error
	for _, w := range all {
		lock := func() (func(), error) { return lockEnvironment(w) }
		entries, err := c.inWorkDir(w.PipedDir(), "environment "+w.Name, lock)
		found, failures = append(found, entries...), append(failures, err)
	}
	return found, errors.Join(failures...)
}

// lockEnvironment takes the locks that an environment and its piped hold.
func lockEnvironment(w *workspace.Workspace) (unlock func(), err error) {
	lock, err := w.AcquireExisting()
	switch {
	case errors.Is(err, workspace.ErrLocked):
		return nil, ErrUsed
	case err != nil:
		return nil, err
	}
	release, err := flock(filepath.Join(w.PipedDir(), owned.LockFile))
	if err != nil { // a piped that outlives its killed environment
		return nil, errors.Join(err, lock.Release())
	}
	return func() {
		release()
		_ = lock.Release()
	}, nil
}

// inWorkDir returns the caches in one work directory; user names who uses them while the lock is taken.
func (c *Caches) inWorkDir(dir, user string, lock func() (func(), error)) ([]*Entry, error) {
	root, err := owned.OpenMarked(dir, pipedMark, nil)
	if refused := (*owned.Error)(nil); errors.Is(err, fs.ErrNotExist) || errors.As(err, &refused) {
		return nil, nil // there is none, or it is not ours
	}
	if err != nil {
		return nil, fmt.Errorf("read the work directory of piped: %w", err)
	}
	if err := root.Close(); err != nil {
		return nil, err
	}
	var found []*Entry
	for _, p := range pipedParts {
		at := filepath.Join(dir, p.folder)
		names, err := matching(at, p.names)
		if err != nil {
			return found, err
		}
		e, err := c.entry(p.kind, at, names)
		if err != nil {
			return found, err
		}
		if e == nil {
			continue
		}
		e.Outdated, e.lock = e.Outdated && !p.kept, lock
		found = append(found, e)
	}
	if len(found) == 0 {
		return nil, nil
	}
	if unlock, err := lock(); err == nil {
		unlock()
	} else if !errors.Is(err, os.ErrNotExist) {
		for _, e := range found {
			e.UsedBy = user
		}
	}
	return found, nil
}
