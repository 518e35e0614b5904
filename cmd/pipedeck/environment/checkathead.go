// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"github.com/pipedeck/pipedeck/cmd/pipedeck/configuration/discovery"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/config/options"
)

// checkAtHead checks every application with the files around it, which only the commit that is deployed last has.
func checkAtHead(repository *workspace.Repository, checker *options.Checker) ([]*workspace.Checked, error) {
	files, err := repository.Files()
	if err != nil {
		return nil, err
	}
	checker.Around = func(report *config.Report) { discovery.WarnOutside(files, report.File(), report) }
	defer func() { checker.Around = nil }()
	return repository.CheckEach(checker)
}
