// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/pipedeck/pipedeck/system/owned"
)

// mark marks a work directory of piped, in which piped empties and removes directories.
const mark = "pipedeck work directory of piped"

// Claim creates and marks the work directory, or checks it: it has to be marked or empty, and piped's user has to
// own it and what is directly in it. Links in it are refused: sources would be written, and removed, where they lead.
func Claim(dir string, logger *slog.Logger) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return fmt.Errorf("create the work directory: %w; choose another one with --work-dir", err)
	}
	root, err := owned.Claim(dir, mark, func(line string) { logger.Warn("the work directory " + line) })
	if err == nil {
		err = errors.Join(check(root, dir), root.Close())
	}
	if refused := (*owned.Error)(nil); errors.As(err, &refused) {
		return fmt.Errorf("work directory: %w; %s, with --work-dir", err, refused.Hint)
	}
	if err != nil {
		return fmt.Errorf("open the work directory: %w; choose another one with --work-dir", err)
	}
	return nil
}

func check(root *os.Root, dir string) error {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) || entry.Name() == "lost+found" {
			continue
		}
		if err == nil {
			err = owned.Check(filepath.Join(dir, entry.Name()), info, info.IsDir())
		}
		if err != nil {
			return err
		}
	}
	return nil
}
