// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	// readyName is the file in a data directory that says what it was initialised for.
	readyName = "pipedeck-ready"
	// lockName is the file with the checksums of providers.
	lockName = ".terraform.lock.hcl"
)

// Reopen is Open with a data directory that lasts: where it was initialised for the same configuration before, nothing
// is initialised again. One caller at a time may use a data directory, also after Reopen has returned.
func Reopen(ctx context.Context, place Place) (*Session, error) {
	if err := os.MkdirAll(place.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("create the data directory: %w", err)
	}
	s, err := prepare(ctx, place)
	if err != nil {
		return nil, err
	}
	wanted, err := s.initialised()
	if err != nil {
		return nil, err
	}
	ready, kept := filepath.Join(place.DataDir, readyName), filepath.Join(place.DataDir, lockName)
	locked := filepath.Join(place.Source.Dir, lockName)
	if had, err := os.ReadFile(ready); err == nil && string(had) == wanted {
		return s, copyMissing(kept, locked)
	}
	if err := os.RemoveAll(ready); err != nil {
		return nil, err
	}
	if err := s.init(ctx); err != nil {
		return nil, err
	}
	if err := s.selectWorkspace(ctx); err != nil {
		return nil, err
	}
	if err := copyOver(locked, kept); err != nil {
		return nil, err
	}
	return s, os.WriteFile(ready, []byte(wanted), 0o600)
}

// Forget has the next Reopen initialise the data directory again.
func (s *Session) Forget() { _ = os.Remove(filepath.Join(s.DataDir, readyName)) }

// initialised identifies what init reads: the configuration with its local modules, flags and environment.
func (s *Session) initialised() (string, error) {
	sum := sha256.New()
	app := s.Source.App
	head, err := json.Marshal([]any{s.Program, s.Version, s.Workspace, app.CommandFlags, app.CommandEnvs})
	if err != nil {
		return "", err
	}
	sum.Write(head)
	err = filepath.WalkDir(s.Source.Dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), ".") && path != s.Source.Dir:
			return fs.SkipDir
		case !entry.Type().IsRegular() || !readByInit(entry.Name()):
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(s.Source.Dir, path) // it is below
		fmt.Fprintf(sum, "%s %d\n", name, len(content))
		sum.Write(content)
		return nil
	})
	if err != nil {
		return "", fmt.Errorf("read the configuration: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func readByInit(name string) bool {
	for _, suffix := range []string{".tf", ".tf.json", ".tofu", ".tofu.json", lockName} {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return false
}

// copyMissing copies a file that may not exist to where none is.
func copyMissing(from, to string) error {
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	return copyOver(from, to)
}

// copyOver copies a file that may not exist.
func copyOver(from, to string) error {
	content, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, 0o600)
}
