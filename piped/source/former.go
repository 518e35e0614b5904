// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/pipedeck/pipedeck/piped/config"
)

// Files are the files of a repository at its commits.
type Files interface {
	ReadFile(ctx context.Context, hash, name string) ([]byte, error)
	FindFiles(ctx context.Context, hash string, match func(path string) bool) ([]string, error)
}

// Former finds the configuration of an application at a commit by its name: the application had another place then. The
// error is fs.ErrNotExist unless exactly one configuration has the name.
func Former(ctx context.Context, files Files, commit, application string) (name string, data []byte, err error) {
	found, err := files.FindFiles(ctx, commit, config.IsApplicationFilename)
	if err != nil {
		return "", nil, err
	}
	count := 0
	for _, file := range found {
		content, err := files.ReadFile(ctx, commit, file)
		if err != nil {
			return "", nil, err
		}
		if report := config.ReadApplication(content, file); report.Application != nil &&
			report.Application.Name == application {
			name, data = file, content
			count++
		}
	}
	if count != 1 {
		return "", nil, fmt.Errorf("%d configurations of an application %s at commit %.7s: %w", count, application,
			commit, fs.ErrNotExist)
	}
	return name, data, nil
}
