// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func secretFileCases() []Case {
	return []Case{{
		ID: "secrets.files", Capability: Secrets, run: secretsInFiles,
		Title: "no file has a secret after the end of the plugin",
		Why:   "secrets stay on the disk of the machine, where its other users and its backups find them",
		Next: "remove a file with a secret when the stage ends, and create it with the mode 0600 below a directory " +
			"of os.MkdirTemp",
	}}
}

// The bounds of what is looked at: files that a plugin has written are few and small.
const (
	maxSecretFile  = 1 << 20
	maxSecretDepth = 2
)

// secretFile is a file that holds a secret.
type secretFile struct {
	path string
	// of says of what the secret is.
	of       string
	readable bool // by every user
}

// secretFiles returns the files below the directories that were written since a time and hold one of the secrets. Such
// a file holds the token of the run as well, because other runs plant the same secrets.
func (s *suite) secretFiles(since time.Time, dirs ...string) (found []secretFile) {
	for _, dir := range dirs {
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			within, _ := filepath.Rel(dir, path)
			switch deep := strings.Count(within, string(filepath.Separator)); {
			case err != nil:
				return nil //nolint:nilerr // it is gone, or of another user
			case entry.IsDir() && (path == s.scratch || deep >= maxSecretDepth):
				return fs.SkipDir
			case !entry.Type().IsRegular():
				return nil
			}
			info, err := entry.Info()
			if err != nil || info.Size() > maxSecretFile || info.ModTime().Before(since.Add(-time.Second)) {
				return nil //nolint:nilerr // it is gone
			}
			if of := s.secretIn(path); of != "" {
				const byOthers = 0o004
				found = append(found, secretFile{path, of, info.Mode().Perm()&byOthers != 0})
			}
			return nil
		})
	}
	return found
}

// secretIn says of what the secret in a file is; empty for none.
func (s *suite) secretIn(path string) string {
	data, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(data, []byte(s.token())) {
		return ""
	}
	for _, place := range []struct{ secret, of string }{
		{secretOfConfig, "the configuration of the plugin"}, {secretOfTarget, "a deploy target"},
		{secretOfOptions, "the options of a stage"}, {secretOfApplication, "the configuration of the application"},
		{secretOfFile, "a decrypted file of the sources"},
	} {
		if holds(string(data), place.secret) {
			return place.of
		}
	}
	return ""
}

func secretsInFiles(p *probe) error {
	found, err := p.planted()
	if err != nil {
		return err
	}
	for _, file := range found.files {
		if file.readable {
			return fmt.Errorf("after its end, a secret of %s is in %s, which every user of the machine can read",
				file.of, file.path)
		}
	}
	for _, file := range found.files {
		return fmt.Errorf("after its end, a secret of %s is in %s", file.of, file.path)
	}
	return nil
}
