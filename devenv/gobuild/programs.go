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
// Others that compile wait for all of them, because two go commands would compile the packages that they share twice.
type Programs struct {
	builds []Build
	// results get the result of each build once; all that follow a failure have failed.
	results []*result
}

// result is that of a build. done is closed after err was set.
type result struct {
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
func NewPrograms(checkout string, folders []Folder) *Programs {
	p := &Programs{}
	for _, folder := range folders {
		p.builds = append(p.builds, Build{
			Dir: checkout, Environ: Environ(), Flags: Flags(),
			Output: filepath.Clean(folder.Output) + "/", Packages: folder.Packages,
		})
		p.results = append(p.results, &result{done: make(chan struct{})})
	}
	return p
}

// Run compiles the programs. It is called once.
func (p *Programs) Run(ctx context.Context, progress Progress) (err error) {
	for i, build := range p.builds {
		if err == nil {
			err = build.Run(ctx, progress)
		}
		if err != nil {
			p.results[i].err = errNotCompiled
		}
		close(p.results[i].done)
	}
	return err
}

// Wait waits until all are compiled; no programs are no reason to wait. It returns an error when they do not compile,
// and the cause of ctx when that ends first.
func (p *Programs) Wait(ctx context.Context) error {
	if p == nil {
		return nil
	}
	return p.results[len(p.results)-1].wait(ctx)
}

// WaitFirst is like Wait, and waits for the programs of the first folder alone.
func (p *Programs) WaitFirst(ctx context.Context) error {
	if p == nil {
		return nil
	}
	return p.results[0].wait(ctx)
}

func (r *result) wait(ctx context.Context) error {
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
