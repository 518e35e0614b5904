// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pipedeck/pipedeck/plugins/terraform/command"
	"github.com/pipedeck/pipedeck/plugins/terraform/session"
)

// folders are data directories, each used by one look at a time.
type folders struct {
	mu   sync.Mutex
	used map[string]*sync.Mutex
}

// take waits for a data directory; the caller has to give it back.
func (f *folders) take(dir string) (back func()) {
	f.mu.Lock()
	if f.used == nil {
		f.used = map[string]*sync.Mutex{}
	}
	one := f.used[dir]
	if one == nil {
		one = &sync.Mutex{}
		f.used[dir] = one
	}
	f.mu.Unlock()
	one.Lock()
	return one.Unlock
}

// look is what to make a plan of that no one applies.
type look struct {
	// use names what it is for: the previews of other commits must not have the drift initialise its directory again.
	use           string
	applicationID string
	source        *session.Source
	target        session.Target
	// known is a state whose resources the reader of the plan does not need any more; nil for none.
	known *session.Moment
}

// look makes a plan, without taking the lock of the state.
func (p *plugin) look(ctx context.Context, l look, read func(*session.Plan) error) error {
	dir := filepath.Join(p.workDir, dataName, l.use, url.PathEscape(l.applicationID), url.PathEscape(l.target.Name))
	defer p.folders.take(dir)()
	place := session.Place{ApplicationID: l.applicationID, Source: l.source, Target: l.target, Config: p.config,
		Programs: p.programs, WorkDir: p.workDir, DataDir: dir}
	for again := false; ; again = true {
		s, err := session.Reopen(ctx, place)
		if err != nil {
			return err
		}
		plan, err := s.Plan(ctx, session.PlanOptions{File: filepath.Join(dir, lookName), Unlocked: true,
			Known: l.known})
		if err != nil && !again && wantsInit(err) {
			s.Forget()
			continue
		}
		if err != nil {
			return err
		}
		err = read(plan)
		_ = os.Remove(plan.File) // it holds secrets; the next look writes it again
		return err
	}
}

// wantsInit is whether a command failed because its data directory is not what the configuration needs.
func wantsInit(err error) bool {
	failure, is := command.AsFailure(err)
	return is && (strings.Contains(failure.Said, " init") || strings.Contains(failure.Said, "initiali"))
}

// atLookTarget names the deploy target of an error where there are several.
func atLookTarget(targets []session.Target, target session.Target, err error) error {
	if err == nil || len(targets) < 2 {
		return err
	}
	return fmt.Errorf("deploy target %s: %w", target.Name, err)
}

// own is the source in a separate directory: a look writes the place of the state of its deploy target there.
func own(source *session.Source) (*session.Source, func(), error) {
	dir, err := copyNext(source.Dir)
	if err != nil {
		return nil, nil, err
	}
	copied := *source
	copied.Dir = dir
	return &copied, func() { _ = os.RemoveAll(dir) }, nil
}

// copyNext copies a directory to one next to it, so that modules of the same repository are where its paths say.
func copyNext(dir string) (string, error) {
	made, err := os.MkdirTemp(filepath.Dir(dir), ".pipedeck-*")
	if err != nil {
		return "", fmt.Errorf("copy the application: %w", err)
	}
	return made, os.CopyFS(made, os.DirFS(dir))
}
