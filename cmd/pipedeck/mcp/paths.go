// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/tui/document"
)

// errOutside refuses a path, whether or not there is a file: an assistant must not learn that either.
var errOutside = errors.New("is outside the repository of the environment and the current directory of the server")

// validate checks the configuration at a path that an assistant may read.
func (r *runner) validate(ctx context.Context, in path) ([]byte, error) {
	directories := r.directories(ctx)
	found, err := confine(directories, in.Path)
	if err != nil {
		step := "start the environment of a repository, or pipedeck mcp in a directory other than / and your home"
		if len(directories) > 0 {
			step = "name a file or directory below " + strings.Join(directories, " or ")
		}
		return nil, fmt.Errorf("%q %w\nnext step: %s", in.Path, err, step)
	}
	return r.run(ctx, command("validate", found)...)
}

// directories are those that an assistant may read: the current one, then the repository of the environment if it runs.
// The root and the home directory do not count: programs are started there without a choice, and they hold secrets.
func (r *runner) directories(ctx context.Context) (all []string) {
	here, _ := os.Getwd()
	named := []string{here}
	var status struct {
		Environment document.Environment `json:"environment"`
	}
	if printed, _ := r.run(ctx, command("status")...); json.Unmarshal(printed, &status) == nil {
		named = append(named, status.Environment.Repository)
	}
	home, _ := os.UserHomeDir()
	home, _ = filepath.EvalSymlinks(home)
	for _, dir := range named {
		real, err := filepath.EvalSymlinks(dir)
		if dir != "" && err == nil && real != home && real != filepath.Dir(real) && !slices.Contains(all, real) {
			all = append(all, real)
		}
	}
	return all
}

// confine returns the path without symbolic links if it is in one of the directories, which have none, and not in a
// directory .git, which may hold credentials. A relative path is one of the first of the directories that has it.
func confine(directories []string, name string) (string, error) {
	var missing error = errOutside
	for _, dir := range directories {
		at := name
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
		}
		found, err := filepath.EvalSymlinks(at)
		switch {
		case err != nil && within(directories, filepath.Clean(at)):
			missing = errors.New("does not exist or cannot be read")
		case err == nil && within(directories, found):
			return found, nil
		}
	}
	return "", missing
}

// within reports whether a path is in one of the directories.
func within(directories []string, path string) bool {
	return slices.ContainsFunc(directories, func(dir string) bool {
		below, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(below) &&
			!slices.Contains(strings.Split(below, string(filepath.Separator)), ".git")
	})
}
