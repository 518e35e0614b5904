// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"fmt"
	"os"
	"path/filepath"
)

// Root is where environments live when the user names no other place.
func Root() (string, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the state directory (set HOME or give --state-dir): %w", err)
	}
	return filepath.Join(home, "Library", "Application Support", "pipedeck"), nil
}
