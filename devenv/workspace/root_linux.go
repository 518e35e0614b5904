// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"fmt"
	"os"
	"path/filepath"
)

// Root is where environments live when the user names no other place: the user's state directory
// by the XDG base directory specification.
func Root() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "pipedeck"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the state directory (set HOME or give --state-dir): %w", err)
	}
	return filepath.Join(home, ".local", "state", "pipedeck"), nil
}
