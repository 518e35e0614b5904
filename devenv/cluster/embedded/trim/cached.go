// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trim

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
)

// Cached returns the absolute path of a go.mod with trimmed modules for the sources where they are, which go commands
// take by -modfile. It and the modules are below dir, and are written when source has a new go.mod. One process at a
// time may call it.
func Cached(ctx context.Context, source, dir string) (string, error) {
	content, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	hash.Write(content)
	fmt.Fprint(hash, cuts)
	dir, err = filepath.Abs(filepath.Join(dir, hex.EncodeToString(hash.Sum(nil)[:6])))
	if err != nil {
		return "", err
	}
	// It is there only when all the others are.
	modfile := filepath.Join(dir, "go.mod")
	if _, err := os.Stat(modfile); err == nil {
		return modfile, nil
	}
	if err := os.RemoveAll(dir); err != nil {
		return "", err
	}
	from, err := filepath.Abs(source)
	if err != nil {
		return "", err
	}
	place, err := filepath.Rel(from, dir)
	if err != nil {
		return "", err
	}
	trimmed, err := Module(ctx, source, dir, filepath.ToSlash(place), []string{"GOWORK=off"})
	if err != nil {
		return "", err
	}
	sums, err := os.ReadFile(filepath.Join(source, "go.sum"))
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sums, 0o600); err != nil {
		return "", err
	}
	return modfile, os.WriteFile(modfile, trimmed, 0o600)
}
