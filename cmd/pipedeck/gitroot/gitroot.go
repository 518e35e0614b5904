// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package gitroot finds the Git repository around a directory without opening it.
package gitroot

import (
	"os"
	"path/filepath"
)

// Of returns the root of the Git repository that holds dir, if there is one.
func Of(dir string) (root string, ok bool) {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at, true
		}
		if at == filepath.Dir(at) {
			return "", false
		}
	}
}
