// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sweepAfter is the number of snapshots whose objects may pile up.
const sweepAfter = 50

func (t *Tree) sweepSometimes(ctx context.Context) error {
	if t.unswept++; t.unswept < sweepAfter {
		return nil
	}
	return t.sweep(ctx)
}

// sweep removes the objects of former snapshots, which piped has copied if it deploys them. What the last
// one has in common with its parent is among the user's objects.
func (t *Tree) sweep(ctx context.Context) error {
	t.unswept = 0
	out, err := t.store.run(ctx, "", "rev-list", "--objects", "--no-object-names", t.branch(), "--not", t.branch()+"^@")
	if err != nil {
		return fmt.Errorf("list the objects of the last snapshot: %w", err)
	}
	needed := map[string]bool{}
	for hash := range strings.Lines(out) {
		needed[strings.TrimSpace(hash)] = true
	}
	loose, err := filepath.Glob(filepath.Join(escapeGlob(t.options.Dir), "objects", "[0-9a-f][0-9a-f]", "*"))
	for _, path := range loose {
		if hash := filepath.Base(filepath.Dir(path)) + filepath.Base(path); !needed[hash] {
			err = errors.Join(err, os.Remove(path))
		}
	}
	if err != nil {
		return fmt.Errorf("remove the objects of former snapshots: %w", err)
	}
	return nil
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
