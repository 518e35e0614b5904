// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// SyncDirectory writes the names in a directory to the disk: until then a power cut may undo the creation, the renaming
// and the removal of files in it.
func SyncDirectory(path string) error { return syncFile(path) }

// SyncTree writes a directory with all that it holds to the disk. Use it once for data that cannot be created again,
// before the directory gets the name by which others find it.
func SyncTree(root string) error {
	return filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.IsDir() && !entry.Type().IsRegular() {
			return nil // its directory holds all of it
		}
		return syncFile(path)
	})
}

func syncFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
