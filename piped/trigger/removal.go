// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"cmp"
	"context"
	"fmt"

	"github.com/pipedeck/pipedeck/piped/removal"
)

// unremovableError says why what an application has deployed cannot be deleted.
type unremovableError struct {
	application, commit string
	cause               error
}

// Error names the application, the commit and the cause.
func (e *unremovableError) Error() string {
	return fmt.Sprintf("application %s cannot be removed by commit %.7s, which was deployed last: %v",
		e.application, e.commit, e.cause)
}

// Unwrap returns the cause.
func (e *unremovableError) Unwrap() error { return e.cause }

// createRemoval creates a deployment that deletes what the application has deployed. hash is the commit that was
// deployed last: its manifests name what runs.
func (t *Trigger) createRemoval(ctx context.Context, c *candidate, hash string, why cause) error {
	looked, err := t.history.previous(ctx, c.application)
	if err != nil {
		return err
	}
	at, err := c.last(ctx, hash)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &unremovableError{c.application.GetName(), hash, err}
	}
	at.looked = cmp.Or(looked, hash)
	why.notes = removal.Notes()
	return t.createAt(ctx, c, at, why)
}

// last reads the application at the commit that was deployed last. Nothing follows its removal.
func (c *candidate) last(ctx context.Context, hash string) (revision, error) {
	mirror, name := c.repository.git, configFileOf(c.application)
	commit, err := mirror.Commit(ctx, hash)
	if err != nil {
		return revision{}, err
	}
	data, err := mirror.ReadFile(ctx, hash, name)
	if err != nil {
		return revision{}, fmt.Errorf("read %s: %w", name, err)
	}
	read := readFile(name, data, nil)
	if read.err != nil {
		return revision{}, fmt.Errorf("its configuration is invalid: %w", read.err)
	}
	return revision{commit: commit, config: read.application}, nil
}
