// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/terraform/command"
	"github.com/pipedeck/pipedeck/plugins/terraform/config"
	"github.com/pipedeck/pipedeck/plugins/terraform/session"
)

// maxAtOnce bounds the deploy targets that are worked at together: each is a process that may take much memory.
const maxAtOnce = 4

// plan is TERRAFORM_PLAN.
func (p *plugin) plan(ctx context.Context, req *executeRequest) (sdk.Result, error) {
	options, err := sdk.DecodeOptions[config.PlanOptions](req.Options)
	if err != nil {
		return sdk.Failure, err
	}
	if err := p.sweep(); err != nil {
		return sdk.Failure, err
	}
	var mu sync.Mutex
	changes, waits := summaries{}, newLockWaits(req)
	err = sdk.ForEachTarget(ctx, req, maxAtOnce, func(ctx context.Context, target session.Target) error {
		made, err := p.planAt(ctx, at(req, target), target, waits)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		changes.add(target.Name, made.Changes)
		return nil
	})
	if err != nil {
		return sdk.Failure, err
	}
	if err := putPlanned(ctx, req, changes); err != nil {
		return sdk.Failure, err
	}
	if err := req.Client.Display(ctx, changes.String()); err != nil {
		return sdk.Failure, err
	}
	if options.ExitOnNoChanges && changes.empty() {
		req.Log.Success("No changes, so the deployment ends here (exitOnNoChanges)")
		return sdk.Exited, nil
	}
	return sdk.Success, nil
}

// at is the request at one deploy target. The log says which one where there are several.
func at(req *executeRequest, target session.Target) *executeRequest {
	if len(req.Targets) < 2 {
		return req
	}
	one := req.At(target)
	one.Targets = req.Targets
	return one
}

// planAt makes the plan of the commit, shows it and remembers it.
func (p *plugin) planAt(ctx context.Context, req *executeRequest, target session.Target,
	waits *lockWaits) (*session.Plan, error) {
	s, err := p.open(ctx, req, req.Target, target, waits)
	if err != nil {
		return nil, err
	}
	return p.planIn(ctx, req, s)
}

// open makes a session and says what it works with.
func (p *plugin) open(ctx context.Context, req *executeRequest, source *session.Source,
	target session.Target, waits *lockWaits) (*session.Session, error) {
	place, err := p.place(req, source, target)
	if err != nil {
		return nil, err
	}
	place.Waits = func(lock command.Lock, most time.Duration) func() {
		req.Log.Infof("Waiting for the lock of the state, at most %s (lockTimeout): %s", most, lock)
		return waits.begin(ctx, target.Name, lock.Who)
	}
	s, err := session.Open(ctx, place)
	if err != nil {
		return nil, err
	}
	req.Log.Infof("%s %s at commit %s%s", s.Program, s.Version, short(source.CommitHash), where(s))
	return s, nil
}

// where says which state it is, where that is not plain.
func where(s *session.Session) string {
	text := ""
	if s.Workspace != "" {
		text += ", workspace " + s.Workspace
	}
	if s.State != "" {
		text += ", state " + s.State
	}
	return text
}

// planIn makes the plan of the commit in a session.
func (p *plugin) planIn(ctx context.Context, req *executeRequest, s *session.Session) (*session.Plan, error) {
	kept, err := p.files(req.Deployment.ID, s.Target.Name)
	if err != nil {
		return nil, err
	}
	made, err := s.Plan(ctx, session.PlanOptions{File: kept.plan()})
	if err != nil {
		return nil, err
	}
	show(req, made)
	p.made.put(made)
	if err := kept.putChanges(made.Changes); err != nil {
		return nil, fmt.Errorf("remember the plan: %w", err)
	}
	return made, shownKey(s.Target.Name).Put(ctx, req.Client, shown{Commit: s.Source.CommitHash, Moment: made.Moment,
		Sum: made.Sum, Digest: made.Changes.Digest()})
}

// show writes a plan to the log, after what the program warns of.
func show(req *executeRequest, made *session.Plan) {
	warn(req, made)
	if made.Changes.Empty() {
		req.Log.Success("The plan has no changes")
		return
	}
	req.Log.Infof("The plan: %s\n%s", made.Changes.Summary(), made.Changes.Diff())
}

// warn writes the warnings of a plan to the log.
func warn(req *executeRequest, made *session.Plan) {
	for _, warning := range made.Warnings {
		req.Log.Info(warning)
	}
}
