// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"os"
	"path/filepath"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/configuration/discovery"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/gitroot"
	"github.com/pipedeck/pipedeck/piped/config"
)

// around checks applications with the files around them in their repositories.
type around struct{ roots map[string]*os.Root }

func newAround() *around { return &around{map[string]*os.Root{}} }

// check leaves out what is in no repository, such as standard input.
func (a *around) check(report *config.Report) {
	folder, known := repositoryFolder(report.File())
	if report.File() == inputName || !known {
		return
	}
	dir, err := filepath.Abs(filepath.Dir(report.File()))
	if err != nil {
		return
	}
	at, _ := gitroot.Of(dir)
	root := a.roots[at]
	if root == nil {
		if root, err = os.OpenRoot(at); err != nil {
			return
		}
		a.roots[at] = root
	}
	discovery.WarnOutside(discovery.WorkTree(root), folder+"/"+filepath.Base(report.File()), report)
}

func (a *around) close() {
	for _, root := range a.roots {
		_ = root.Close()
	}
}
