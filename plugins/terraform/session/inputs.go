// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/terraform/config"
)

// checkInputs finds mistakes that the program would report later, without the next step, or not at all.
func checkInputs(dir string, app *config.Application) error {
	for _, name := range app.VarFiles {
		path := name
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the file %s of spec.plugins.terraform.varFiles does not exist\n"+
				"next step: commit it below the directory of the application, or correct its path", name)
		}
	}
	flags := app.CommandFlags
	for _, flag := range flags.Apply {
		if choosesPlan(flag) && !slices.Contains(flags.Plan, flag) && !slices.Contains(flags.Shared, flag) {
			return fmt.Errorf("commandFlags.apply has %s, which chooses what to plan, but the saved plan is applied "+
				"as it was shown\nnext step: move the flag to commandFlags.plan", flag)
		}
	}
	return nil
}

// choosesPlan is whether a flag decides about what a plan has. With a saved plan the program ignores it.
func choosesPlan(flag string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(flag, "-"), "=")
	return slices.Contains([]string{"target", "target-file", "exclude", "exclude-file", "replace", "destroy",
		"refresh-only"}, name)
}
