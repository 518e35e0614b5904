// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/pipedeck/pipedeck/system/owned"
)

// maxReadOnly bounds what Read takes, in bytes: a running journal replaces its file long before.
const maxReadOnly = 4 << 30

// Read restores a state from a file and changes nothing on the disk, also not when the file is damaged. Another process
// may write the file meanwhile: what it has not written to its end does not count. missing says for users what damage
// has cost, now or earlier; it is empty when nothing has. The error is fs.ErrNotExist when no history was ever written.
func Read(path string, state State) (missing string, err error) {
	j := &Journal{o: Options{Path: path, State: state, Logger: slog.New(slog.DiscardHandler)}, disk: realDisk{}}
	data, err := owned.ReadFile(path, maxReadOnly)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if j.lost.damage = j.deleted(); j.lost.damage == nil {
			return "", fmt.Errorf("read the history: %w", err)
		}
	case err != nil:
		return "", fmt.Errorf("read the history: %w", err)
	default:
		j.restore(data, nil)
	}
	state.Restored()
	return j.said(), nil
}

// said is what is missing, as far as users have not accepted it.
func (j *Journal) said() string {
	var all []string
	if j.lost.damage != nil {
		all = append(all, j.lost.damage.missing)
	}
	for _, r := range j.lost.records {
		if _, err := os.Lstat(r.ID); err == nil {
			all = append(all, r.Name)
		}
	}
	return strings.Join(all, "; ")
}
