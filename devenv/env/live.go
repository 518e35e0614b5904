// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/controlplane"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
	"github.com/pipedeck/pipedeck/devenv/live"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/exhaustion"
)

// openTree takes a first snapshot before piped looks, of the working tree or, unless the environment is live, of the
// commit at a detached HEAD. What holds it back is reported, and what was there last is
// deployed until that is fixed.
func (e *Environment) openTree(ctx context.Context) error {
	repository := e.repository.Load()
	hint := "start without --live"
	if !e.Live {
		hint = "check out a branch: git -C " + repository.Root + " switch BRANCH"
	}
	e.treeReport = &treeReport{
		repository: repository, live: e.Live, components: e.components, server: e.server, logger: e.Logger,
		advice: e.seeLogs(),
	}
	tree, err := live.Open(ctx, live.Options{
		Root: repository.Root, Branch: repository.Branch, CommitsOnly: !e.Live, Dir: e.Workspace.Snapshots(),
		Watched: e.treeReport.watched, Logger: e.Logger,
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
	e.treeReport.show(snapshot, err)
	return nil
}

// treeReport shows users which state of the working tree is deployed.
type treeReport struct {
	repository *workspace.Repository
	live       bool
	components *components
	server     *controlplane.Server
	logger     *slog.Logger
	// advice is the next step for errors that bring none.
	advice string
}

// show shows what is deployed after a snapshot was taken, or could not be.
func (r *treeReport) show(s live.Snapshot, err error) {
	r.held(err)
	detail := fmt.Sprintf("%s, branch %s, live: ", r.repository.Root, r.repository.Branch)
	if !r.live {
		detail = fmt.Sprintf("%s, HEAD is detached: ", r.repository.Root)
	}
	switch {
	case err != nil:
		r.logger.Warn("what is checked out is not deployed", "error", err)
		detail += "the last state stays deployed: " + err.Error()
	case !r.live:
		detail += fmt.Sprintf("commit %.7s is deployed, and the next one that is checked out", s.Commit)
	case len(s.Uncommitted) > 0:
		detail += "saved files are deployed, " + live.Summary(s.Uncommitted)
	default:
		detail += "saving a file deploys it"
	}
	if len(s.LeftOut) > 0 {
		detail += " (without the repositories within: " + strings.Join(s.LeftOut, ", ") + ")"
	}
	r.components.describe(componentRepository, detail)
}

// held reports a working tree that is not deployed as it is, with what to do about it.
func (r *treeReport) held(err error) {
	if err == nil {
		r.server.ClearProblem(partTree)
		return
	}
	problem := store.Problem{
		Part: partTree, Component: componentRepository, Reason: "what was saved is not deployed: " + err.Error(),
		NextStep: r.advice,
	}
	if held := (*live.HeldError)(nil); errors.As(err, &held) {
		problem.Reason, problem.NextStep = "what was saved is not deployed: "+held.Problem, held.Hint
	}
	r.server.SetProblem(problem)
}

// watched reports a working tree of which not all can be watched.
func (r *treeReport) watched(err error) {
	const part = "watch of the working tree"
	if err == nil {
		r.server.ClearProblem(part)
		return
	}
	r.server.SetProblem(store.Problem{
		Part: part, Component: componentRepository,
		Reason:   "what is saved is noticed after up to 2 s instead of at once: " + err.Error(),
		NextStep: cmp.Or(exhaustion.WatchAdvice(err), r.advice),
	})
}
