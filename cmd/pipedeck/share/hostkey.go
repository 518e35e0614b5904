// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

// openHostKey returns the key of an environment. One that has no directory yet gets its key later, by keep; one without
// a place for it has a key for this run.
func openHostKey(dir string) (*hostKey, error) {
	path := filepath.Join(dir, workspace.HostKeyFile)
	if dir != "" {
		content, err := os.ReadFile(path)
		if err == nil {
			signer, err := ssh.ParsePrivateKey(content)
			if err != nil {
				return nil, exit.With(exit.Failed, fmt.Errorf("read the host key %s: %w", path, err),
					"remove the file; the next run creates a new one")
			}
			return &hostKey{signer: signer}, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the host key: %w", err)
		}
	}
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("create a host key: %w", err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return nil, fmt.Errorf("create a host key: %w", err)
	}
	k := &hostKey{signer: signer}
	if dir != "" {
		k.save = func() error { return saveHostKey(path, private) }
	}
	return k, nil
}

// saveHostKey writes a key to a file that only this user can read, unless there is one.
func saveHostKey(path string, key ed25519.PrivateKey) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	block, err := ssh.MarshalPrivateKey(key, "pipedeck")
	if err != nil {
		return err
	}
	return workspace.WriteFile(path, pem.EncodeToMemory(block))
}
