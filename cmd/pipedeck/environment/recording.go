// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/version"
	"github.com/pipedeck/pipedeck/devenv/recorder"
	"github.com/pipedeck/pipedeck/devenv/sessionfile"
	"github.com/pipedeck/pipedeck/system/clock"
)

// sessionFile is a file that a session is written to.
type sessionFile struct {
	path string
	file diskFile
}

// diskFile is an *os.File.
type diskFile interface {
	sessionfile.File
	io.Closer
	Stat() (fs.FileInfo, error)
}

// checkSessionPath refuses standard output: a session is read again after it was written.
func checkSessionPath(path string) error {
	if path != standardOutput {
		return nil
	}
	return exit.Usage(errors.New("a session is written to a file, not to standard output"),
		"name a file; one with this name is ./-")
}

// createSession creates a file for a session that only this user can read. It never replaces one.
func createSession(path string) (*sessionFile, error) {
	if err := checkSessionPath(path); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, exit.Usage(fmt.Errorf("%s exists already", path), "choose another name, or remove the file")
	case err != nil:
		return nil, exit.Usage(err, "choose a file that can be written")
	}
	return &sessionFile{path, file}, nil
}

// snapshot records the present state of an environment. missing is why that is not complete; empty when it is.
func (f *sessionFile) snapshot(ctx context.Context, deck deckv1.DeckServiceClient, name, missing string) error {
	return recorder.Record(ctx, deck, f.file, recorder.Options{Environment: name, Version: version.Build(),
		Snapshot: true, Missing: missing, Clock: clock.System{}})
}

// close returns the size of the file in bytes.
func (f *sessionFile) close() (int64, error) {
	info, err := f.file.Stat()
	if err = errors.Join(err, f.file.Close()); err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// discard removes the file.
func (f *sessionFile) discard() error { return errors.Join(f.file.Close(), os.Remove(f.path)) }

// remove is discard for callers that can only print an error.
func (f *sessionFile) remove(out io.Writer) {
	if err := f.discard(); err != nil {
		fmt.Fprintln(out, "pipedeck:", err)
	}
}
