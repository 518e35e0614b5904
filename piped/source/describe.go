// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
)

// reader is a Repository that can read a single file of a commit.
type reader interface {
	ReadFile(ctx context.Context, hash, name string) ([]byte, error)
}

// Describe reads the configuration of an application and makes no directory: the source is for those who do not
// read one. Where that is not enough to read it, because it is a symbolic link for one, it does what Prepare does.
func (s *Store) Describe(ctx context.Context, request Request) (*Source, error) {
	if err := request.check(); err != nil {
		return nil, err
	}
	from, can := request.Repository.(reader)
	if !can {
		return s.Prepare(ctx, request)
	}
	name := path.Join(request.Path, request.ConfigFilename)
	raw, err := from.ReadFile(ctx, request.Commit, name)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf(
			"application configuration %s is missing at commit %s: %w", name, request.Commit, fs.ErrNotExist,
		)
	case err != nil:
		return s.Prepare(ctx, request)
	}
	source := &Source{ConfigFilename: request.ConfigFilename, Commit: request.Commit, store: s}
	if err := source.parse(raw, name); err != nil {
		return nil, err
	}
	return source, nil
}
