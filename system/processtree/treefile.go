// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package processtree

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// GroupPrefix begins the names of the control groups of trees.
const GroupPrefix = "pipedeck-"

// FileName is the name of the file in piped's work directory that keeps the tree of its plugins.
const FileName = "process-tree"

// kept is what the file of a tree holds.
type kept struct {
	Token  string   `json:"token"`
	Groups []string `json:"groups,omitempty"`
}

// Keep returns the tree that a file keeps, and creates the file when it is missing. The tree is the same one for each
// process that calls Keep after another with the same file, so that a process can end what an earlier one has left. A
// file that cannot be used is replaced.
func Keep(file string) (*Tree, error) {
	last := load(file)
	if last.Token == "" {
		last.Token = newToken()
	}
	t := within(os.Getenv(Variable), last.Token)
	t.file, t.groups = file, last.Groups
	t.mu.Lock()
	defer t.mu.Unlock()
	return t, t.keep()
}

// Kept returns the tree that a file keeps, nil when there is none.
func Kept(file string) *Tree {
	last := load(file)
	if last.Token == "" {
		return nil
	}
	t := within(os.Getenv(Variable), last.Token)
	t.groups = last.Groups
	return t
}

// load returns the zero value when the file is not one of a tree.
func load(file string) kept {
	var last kept
	data, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(data, &last) != nil {
		return kept{}
	}
	if random, err := hex.DecodeString(last.Token); err != nil || len(random) != 16 {
		return kept{}
	}
	last.Groups = slices.DeleteFunc(last.Groups, func(dir string) bool {
		return filepath.Base(dir) != GroupPrefix+last.Token || !filepath.IsAbs(dir)
	})
	return last
}

// keep is called with mu held.
func (t *Tree) keep() error {
	if t.file == "" {
		return nil
	}
	data, err := json.Marshal(kept{Token: t.token, Groups: t.groups})
	if err != nil {
		return err
	}
	next := t.file + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep the process tree: %w", err)
	}
	if err := os.WriteFile(next, data, 0o600); err != nil {
		return fmt.Errorf("keep the process tree: %w", err)
	}
	if err := os.Rename(next, t.file); err != nil {
		return fmt.Errorf("keep the process tree: %w", err)
	}
	return nil
}
