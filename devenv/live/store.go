// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// makeStore creates the bare repository in dir that borrows the user's objects, or goes on with the one that is there.
// The program works in it.
func makeStore(ctx context.Context, store program, dir, branch, objects string) error {
	if err := createStore(ctx, store, dir, branch, objects); err != nil {
		return fmt.Errorf("make the repository for snapshots in %s: %w", dir, err)
	}
	return nil
}

func createStore(ctx context.Context, store program, dir, branch, objects string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	init := store.with("GIT_OBJECT_DIRECTORY=" + filepath.Join(dir, "objects"))
	if _, err := init.run(ctx, "", "init", "--quiet", "--bare", "--template=", "--initial-branch="+branch); err != nil {
		return err
	}
	// A former process may have been killed while it wrote.
	for _, left := range []string{"index", "index.lock"} {
		if err := os.Remove(filepath.Join(dir, left)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	info := filepath.Join(dir, "objects", "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(info, "alternates"), []byte(objects+"\n"), 0o600)
}
