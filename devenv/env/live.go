// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
	"github.com/pipedeck/pipedeck/devenv/live"
	"github.com/pipedeck/pipedeck/system/exhaustion"
)

// openTree takes a first snapshot before piped looks, of the working tree or, unless the environment is live, of the
// commit at a detached HEAD. What holds it back is told, and what was there last is
// deployed until that is mended.
func (e *Environment) openTree(ctx context.Context) error {
	repository := e.repository.Load()
	hint := "start without --live"
	if !e.Live {
		hint = "check out a branch: git -C " + repository.Root + " switch BRANCH"
	}
	tree, err := live.Open(ctx, live.Options{
		Root: repository.Root, Branch: repository.Branch, CommitsOnly: !e.Live, Dir: e.Workspace.Snapshots(),
		Watched: e.treeWatched, Logger: e.Logger,
	})
	if err != nil {
		return &StartError{componentRepository, err, hint}
	}
	snapshot, err := tree.Take(ctx)
	if held := (*live.HeldError)(nil); err != nil && !errors.As(err, &held) {
		return &StartError{componentRepository, err, hint}
	}
	e.tree = tree
	e.components.ready(componentRepository, "")
	e.tellSnapshot(snapshot, err)
	return nil
}

// tellSnapshot shows what is deployed.
func (e *Environment) tellSnapshot(s live.Snapshot, err error) {
	e.reportTree(err)
	repository := e.repository.Load()
	detail := fmt.Sprintf("%s, branch %s, live: ", repository.Root, repository.Branch)
	if !e.Live {
		detail = fmt.Sprintf("%s, HEAD is detached: ", repository.Root)
	}
	switch {
	case err != nil:
		e.Logger.Warn("what is checked out is not deployed", "error", err)
		detail += "the last state stays deployed: " + err.Error()
	case !e.Live:
		detail += fmt.Sprintf("commit %.7s is deployed, and the next one that is checked out", s.Commit)
	case len(s.Uncommitted) > 0:
		detail += "saved files are deployed, " + live.Summary(s.Uncommitted)
	default:
		detail += "saving a file deploys it"
	}
	if len(s.LeftOut) > 0 {
		detail += " (without the repositories within: " + strings.Join(s.LeftOut, ", ") + ")"
	}
	e.components.told(componentRepository, detail)
}

// reportTree reports a working tree that is not deployed as it is, with what to do about it.
func (e *Environment) reportTree(err error) {
	if err == nil {
		e.server.ClearProblem(partTree)
		return
	}
	problem := store.Problem{Part: partTree, Component: componentRepository, Reason: "what was saved is not deployed: " + err.Error(), NextStep: e.seeLogs()}
	if held := (*live.HeldError)(nil); errors.As(err, &held) {
		problem.Reason, problem.NextStep = "what was saved is not deployed: "+held.Problem, held.Hint
	}
	e.server.SetProblem(problem)
}

// treeWatched reports a working tree of which not all can be watched.
func (e *Environment) treeWatched(err error) {
	const part = "watch of the working tree"
	if err == nil {
		e.server.ClearProblem(part)
		return
	}
	e.server.SetProblem(store.Problem{
		Part: part, Component: componentRepository, Reason: "what is saved is noticed after up to 2 s instead of at once: " + err.Error(),
		NextStep: cmp.Or(exhaustion.WatchAdvice(err), e.seeLogs()),
	})
}
