// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"errors"
	"io"
	"os"
	"time"
)

// index is a copy of the user's index for git to work on. The copy saves reading every file of a large tree:
// git knows from it which files have not changed.
type index struct {
	from, path string
	size       int64
	modified   time.Time
}

// refresh copies the user's index when the index has changed since the last copy.
func (x *index) refresh() (copied bool, err error) {
	from, err := os.Open(x.from)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil // nothing was ever added
	}
	if err != nil {
		return false, err
	}
	defer from.Close()
	info, err := from.Stat()
	if err != nil || info.Size() == x.size && info.ModTime().Equal(x.modified) {
		return false, err
	}
	if err := x.copy(from, info.ModTime()); err != nil {
		return false, err
	}
	x.size, x.modified = info.Size(), info.ModTime()
	return true, nil
}

// copy writes the content, and keeps the time of the user's index: git treats a file that is newer than the index as
// changed.
func (x *index) copy(from io.Reader, modified time.Time) error {
	making := x.path + ".new"
	to, err := os.OpenFile(making, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		return err
	}
	if err := os.Chtimes(making, modified, modified); err != nil {
		return err
	}
	return os.Rename(making, x.path)
}

// forget makes the next refresh copy the index again.
func (x *index) forget() { x.size, x.modified = 0, time.Time{} }
