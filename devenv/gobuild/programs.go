// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package gobuild

import (
	"context"
	"errors"
	"path/filepath"
)

// errNotCompiled ends those who wait for programs that do not compile; Run has returned the cause.
var errNotCompiled = errors.New("the programs do not compile")

// Programs are programs of one checkout that are compiled one after the other, in the order in which they are needed.
// Others that compile wait for all but the later ones, because two go commands would compile the packages that they
// share twice.
type Programs struct {
	builds, later []Build
	// done is closed when the first ones are compiled or Run has failed, after err was set.
	done chan struct{}
	err  error
}

// Folder is where programs are put.
type Folder struct {
	// Output is the directory, and Packages are relative to the checkout, such as ./cmd/piped.
	Output   string
	Packages []string
}

// NewPrograms returns the programs of the folders; no one waits for those of later. The checkout is one that the user
// has named: its code is run.
func NewPrograms(checkout string, folders []Folder, later ...Folder) *Programs {
	return &Programs{builds: builds(checkout, folders), later: builds(checkout, later), done: make(chan struct{})}
}

func builds(checkout string, folders []Folder) []Build {
	var list []Build
	for _, folder := range folders {
		list = append(list, Build{
			Dir: checkout, Environ: Environ(), Flags: Flags(),
			Output: filepath.Clean(folder.Output) + "/", Packages: folder.Packages,
		})
	}
	return list
}

// Run compiles the programs. It is called once.
func (p *Programs) Run(ctx context.Context, progress Progress) error {
	if err := run(ctx, p.builds, progress); err != nil {
		p.err = errNotCompiled
		close(p.done)
		return err
	}
	close(p.done)
	return run(ctx, p.later, progress)
}

func run(ctx context.Context, builds []Build, progress Progress) error {
	for _, build := range builds {
		if err := build.Run(ctx, progress); err != nil {
			return err
		}
	}
	return nil
}

// Wait waits until all but the later ones are compiled; no programs are no reason to wait. It returns an error when
// they do not compile, and the cause of ctx when that ends first.
func (p *Programs) Wait(ctx context.Context) error {
	if p == nil {
		return nil
	}
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
