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
// Others that compile wait for them, because two go commands would compile the packages that they share twice.
type Programs struct {
	builds []Build
	// done is closed when Run has ended, after err was set.
	done chan struct{}
	err  error
}

// Folder is where programs are put.
type Folder struct {
	// Output is the directory, and Packages are relative to the checkout, such as ./cmd/piped.
	Output   string
	Packages []string
}

// NewPrograms returns the programs of the folders. The checkout is one that the user has named: its code is run.
func NewPrograms(checkout string, folders ...Folder) *Programs {
	p := &Programs{done: make(chan struct{})}
	for _, folder := range folders {
		p.builds = append(p.builds, Build{
			Dir: checkout, Environ: []string{"GOFLAGS=-buildvcs=false"},
			Output: filepath.Clean(folder.Output) + "/", Packages: folder.Packages,
		})
	}
	return p
}

// Run compiles the programs. It is called once.
func (p *Programs) Run(ctx context.Context, progress Progress) error {
	defer close(p.done)
	for _, build := range p.builds {
		if err := build.Run(ctx, progress); err != nil {
			p.err = errNotCompiled
			return err
		}
	}
	return nil
}

// Wait waits until Run has ended; no programs are no reason to wait. It returns an error when they do not compile, and
// the cause of ctx when that ends first.
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
