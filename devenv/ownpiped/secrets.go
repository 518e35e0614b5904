// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ownpiped

import (
	"path/filepath"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
)

// SecretManagement returns the keys for secrets that a piped configuration names, with absolute paths; nil when it
// names none. Mistakes elsewhere in the file do not count.
func SecretManagement(file string) (*config.SecretManagement, error) {
	data, dir, err := read(file)
	if err != nil {
		return nil, err
	}
	report := config.CheckProvided(data, file, config.Provided{Repositories: []string{workspace.RepositoryID}})
	if report.Piped == nil {
		return nil, report.Errors
	}
	c := newConfig(report, dir)
	c.resolvePaths()
	var mistakes config.Errors
	for _, e := range report.Errors {
		if strings.HasPrefix(e.Field, "spec.secretManagement") {
			mistakes = append(mistakes, e)
		}
	}
	if len(mistakes) > 0 {
		return nil, mistakes
	}
	return report.Piped.SecretManagement, nil
}

func newConfig(report *config.Report, dir string) *Config {
	c := &Config{Dir: dir, Piped: report.Piped, report: report, skipped: map[string]bool{}}
	c.spec, _ = report.Value("spec").Any().(map[string]any)
	if c.spec == nil {
		c.spec = map[string]any{}
	}
	return c
}

// directory is where relative paths of a file begin.
func directory(file string) (string, error) {
	path, err := filepath.Abs(file)
	return filepath.Dir(path), err
}
