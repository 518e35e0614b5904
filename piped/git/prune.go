// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package git

import (
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
)

// pruningFile names the pack that stays, while the rest of the mirror is being removed. What is not removed yet may
// lack what it refers to, and a tree or a commit that is there counts as complete.
const pruningFile = "pruning"

func (m *mirror) beginPruning(kept plumbing.Hash) error {
	return os.WriteFile(filepath.Join(m.dir, pruningFile), []byte(kept.String()), 0o600)
}

func (m *mirror) endPruning() error { return os.Remove(filepath.Join(m.dir, pruningFile)) }

// finishPruning removes what a process that was killed meanwhile has not. Without the pack that was to stay, which a
// power failure may cost, nothing does.
func (m *mirror) finishPruning() error {
	kept, err := os.ReadFile(filepath.Join(m.dir, pruningFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	objects, name := filepath.Join(m.dir, "objects"), packPrefix+string(kept)
	if !plumbing.IsHash(string(kept)) || !wholePack(filepath.Join(m.packDir(), name)) {
		m.logger.Warn("the mirror is damaged; all of it is fetched again", "pack", name)
		return errors.Join(os.RemoveAll(objects), m.endPruning())
	}
	if err := removeBut(objects, "pack"); err != nil { // loose objects
		return err
	}
	if err := removeBut(m.packDir(), name+packSuffix, name+idxSuffix); err != nil {
		return err
	}
	return m.endPruning()
}

// removeBut empties a directory but for these names.
func removeBut(dir string, stay ...string) error {
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		if !slices.Contains(stay, entry.Name()) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, entry.Name())))
		}
	}
	return err
}
