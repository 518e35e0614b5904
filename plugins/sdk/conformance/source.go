// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/plugin/common"
)

// maxCopied bounds the repository that each call gets a copy of, in bytes. Calls share the copy of a larger one.
const maxCopied = 16 << 20

// sourceFor returns the application for one call, in a directory of that call alone, as piped gives it.
func (s *suite) sourceFor() (*common.DeploymentSource, error) {
	source := proto.CloneOf(s.source)
	root := filepath.Dir(source.GetSharedConfigDirectory())
	within, err := filepath.Rel(root, source.GetApplicationDirectory())
	if err != nil || !filepath.IsLocal(within) || !small(root) {
		return source, nil //nolint:nilerr // the directory is used as it is
	}
	dir, err := os.MkdirTemp(s.scratch, "source-")
	if err != nil {
		return nil, fmt.Errorf("copy the application for a call: %w", err)
	}
	if err := os.CopyFS(dir, os.DirFS(root)); err != nil {
		return nil, fmt.Errorf("copy the application for a call: %w", err)
	}
	source.ApplicationDirectory = filepath.Join(dir, within)
	source.SharedConfigDirectory = filepath.Join(dir, filepath.Base(source.GetSharedConfigDirectory()))
	return source, nil
}

// small is whether a tree has few bytes.
func small(root string) bool {
	left := int64(maxCopied)
	err := filepath.WalkDir(root, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if left -= info.Size(); left < 0 {
			return fs.SkipAll
		}
		return nil
	})
	return err == nil && left >= 0
}
