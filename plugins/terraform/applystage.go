// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/terraform/change"
	"github.com/pipedeck/pipedeck/plugins/terraform/command"
	"github.com/pipedeck/pipedeck/plugins/terraform/config"
	"github.com/pipedeck/pipedeck/plugins/terraform/session"
)

// ready is a plan that may be applied, at one deploy target; without a plan, nothing is left to do there.
type ready struct {
	session *session.Session
	plan    *session.Plan
	// asks are the changes whose destroyed resources need an approval.
	asks *change.Set
}

// apply is TERRAFORM_APPLY.
func (p *plugin) apply(ctx context.Context, req *executeRequest) (sdk.Result, error) {
	options, err := sdk.DecodeOptions[config.ApplyOptions](req.Options)
	if err != nil {
		return sdk.Failure, err
	}
	// All plans first: an approval is for all of them.
	plans, changes, asks := map[string]ready{}, summaries{}, summaries{}
	waits := newLockWaits(req)
	for _, target := range req.Targets {
		found, err := p.ready(ctx, at(req, target), target, waits)
		if err != nil {
			return sdk.Failure, atTarget(req, target, err)
		}
		plans[target.Name] = found
		if found.plan != nil {
			changes.add(target.Name, found.plan.Changes)
			asks.add(target.Name, found.asks)
		}
	}
	if err := putPlanned(ctx, req, changes); err != nil {
		return sdk.Failure, err
	}
	if err := guard(ctx, req, &options, destroyed(asks)); err != nil {
		return sdk.Failure, err
	}
	err = sdk.ForEachTarget(ctx, req, maxAtOnce, func(ctx context.Context, target session.Target) error {
		return p.applyAt(ctx, at(req, target), plans[target.Name])
	})
	if err != nil {
		return sdk.Failure, err
	}
	if len(changes) > 0 {
		if err := req.Client.Display(ctx, changes.String()); err != nil {
			return sdk.Failure, err
		}
	}
	return sdk.Success, nil
}

// atTarget names the deploy target of an error where there are several.
func atTarget(req *executeRequest, target session.Target, err error) error {
	if len(req.Targets) < 2 {
		return err
	}
	return fmt.Errorf("deploy target %s: %w", target.Name, err)
}

// ready returns the plan to apply at a deploy target: the one that was shown, else a new one that is shown now.
func (p *plugin) ready(ctx context.Context, req *executeRequest, target session.Target, waits *lockWaits) (ready,
	error) {
	if done, _, err := appliedKey(target.Name).Get(ctx, req.Client); err != nil || done {
		if done {
			req.Log.Success("The plan was applied by an earlier attempt")
		}
		return ready{}, err
	}
	s, err := p.open(ctx, req, req.Target, target, waits)
	if err != nil {
		return ready{}, err
	}
	applying, err := begun(ctx, req, target.Name)
	if err != nil {
		return ready{}, err
	}
	saved, found, err := shownKey(target.Name).Get(ctx, req.Client)
	if err != nil {
		return ready{}, err
	}
	if applying {
		return p.rest(ctx, req, s)
	}
	var plan *session.Plan
	if found {
		plan, err = p.saved(ctx, req, s, saved)
	} else {
		plan, err = p.planIn(ctx, req, s)
	}
	if err != nil {
		return ready{}, err
	}
	return ready{s, plan, plan.Changes}, nil
}

// begun reports whether an earlier attempt has begun to apply. A stage that a user has run once more does not find what
// its run before has noted, so the deployment answers.
func begun(ctx context.Context, req *executeRequest, target string) (begun bool, err error) {
	if req.Stage.Run > 0 {
		begun, _, err = touchedKey(target).Get(ctx, req.Client)
		return begun, err
	}
	begun, _, err = startedKey(target).Get(ctx, req.Client)
	return begun, err
}

// saved returns the plan that was shown, and refuses it when it is for something else than there is now.
func (p *plugin) saved(ctx context.Context, req *executeRequest, s *session.Session, saved shown) (*session.Plan,
	error) {
	if saved.Commit != s.Source.CommitHash {
		return nil, again(fmt.Errorf("%w: it was made for commit %s, and this is %s", session.ErrStale,
			short(saved.Commit), short(s.Source.CommitHash)))
	}
	if err := s.CheckState(ctx, saved.Moment); err != nil {
		return nil, again(err)
	}
	kept, err := p.files(req.Deployment.ID, s.Target.Name)
	if err != nil {
		return nil, err
	}
	sum, err := session.SumOf(kept.plan())
	switch {
	case err == nil && sum == saved.Sum:
		plan, known := p.made.take(sum)
		if known {
			s.Hide(plan.Changes.Secrets())
		} else if plan, err = s.ReadPlan(ctx, kept.plan()); err != nil {
			return nil, err
		}
		req.Log.Infof("The plan that was shown: %s", plan.Changes.Summary())
		return plan, nil
	case err == nil:
		return nil, again(fmt.Errorf("%w: its file %s is not the one that was saved", session.ErrStale, kept.plan()))
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	req.Log.Info("The plan that was shown is not on this machine, so it is made again")
	plan, err := remade(ctx, req, s, kept.plan(), saved.Digest)
	if err != nil {
		return nil, err
	}
	return plan, kept.putChanges(plan.Changes)
}

// remade makes a plan again, and refuses it when it has other changes than the one that was shown.
func remade(ctx context.Context, req *executeRequest, s *session.Session, file, digest string) (*session.Plan, error) {
	plan, err := s.Plan(ctx, session.PlanOptions{File: file})
	if err != nil {
		return nil, err
	}
	if plan.Changes.Digest() != digest {
		show(req, plan)
		return nil, again(fmt.Errorf("%w: a new plan has other changes than the one that was shown", session.ErrStale))
	}
	warn(req, plan)
	return plan, nil
}

// again says what to do about a plan that is refused.
func again(err error) error {
	if !errors.Is(err, session.ErrStale) {
		return err
	}
	return fmt.Errorf("%w\nnext step: deploy the commit again, which makes and shows a new plan", err)
}

// rest returns what an attempt that was interrupted has left to do. It is part of what was shown.
func (p *plugin) rest(ctx context.Context, req *executeRequest, s *session.Session) (ready, error) {
	req.Log.Info("An earlier attempt had begun to apply the plan; a new plan finds out what is left")
	kept, err := p.files(req.Deployment.ID, s.Target.Name)
	if err != nil {
		return ready{}, err
	}
	left, err := s.Plan(ctx, session.PlanOptions{File: kept.rest()})
	if err != nil {
		return ready{}, err
	}
	if left.Changes.Empty() {
		warn(req, left)
		req.Log.Success("Nothing is left: the earlier attempt had applied everything")
		return ready{}, appliedKey(s.Target.Name).Put(ctx, req.Client, true)
	}
	show(req, left)
	before, err := kept.getChanges()
	if err != nil {
		return ready{}, err
	}
	if before == nil {
		before = &change.Set{}
	}
	if err := left.Changes.Within(before); err != nil {
		return ready{}, again(fmt.Errorf("%w: %w", session.ErrStale, err))
	}
	// A resource whose creation was interrupted is replaced: no one misses it.
	retried := left.Changes.Retried(before)
	if list := retried.Destroyed(); len(list) > 0 {
		req.Log.Infof("Replaced without an approval, because this deployment has begun to create it and its creation "+
			"had failed: %s", listed(list))
	}
	return ready{s, left, left.Changes.Without(retried)}, nil
}

// applyAt applies a plan at one deploy target.
func (p *plugin) applyAt(ctx context.Context, req *executeRequest, found ready) error {
	if found.plan == nil {
		return nil
	}
	name := found.session.Target.Name
	if found.plan.Changes.Empty() {
		req.Log.Success("Nothing to apply")
		return nil
	}
	before, err := beforeApply(ctx, req, name)
	if err != nil {
		return err
	}
	if err := p.run(ctx, req, found); err != nil {
		if changedNothing(err) {
			lasting, cancel := afterwards(ctx)
			defer cancel()
			return errors.Join(err, before.put(lasting, req, name))
		}
		return err
	}
	return appliedKey(name).Put(ctx, req.Client, true)
}

// progress is how far a deployment is at a deploy target.
type progress struct {
	// touched is that of the deployment, started that of the stage.
	touched, started bool
}

// beforeApply notes that a stage begins to change a deploy target, and returns what was known before.
func beforeApply(ctx context.Context, req *executeRequest, target string) (before progress, err error) {
	if before.touched, _, err = touchedKey(target).Get(ctx, req.Client); err != nil {
		return before, err
	}
	if before.started, _, err = startedKey(target).Get(ctx, req.Client); err != nil {
		return before, err
	}
	return before, progress{true, true}.put(ctx, req, target)
}

func (p progress) put(ctx context.Context, req *executeRequest, target string) error {
	if err := touchedKey(target).Put(ctx, req.Client, p.touched); err != nil {
		return err
	}
	return startedKey(target).Put(ctx, req.Client, p.started)
}

// changedNothing is whether the program has not begun to apply a plan: it has refused the plan, or did not get the lock
// before it failed or the stage ended. A rollback would undo what others have done.
func changedNothing(err error) bool {
	return errors.Is(err, session.ErrStale) || errors.Is(err, command.ErrNotBegun)
}

// noteLimit bounds a call to piped for a stage that may have ended.
const noteLimit = 5 * time.Second

// afterwards is for a note that counts also when the stage has ended.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), noteLimit)
}

// run applies a plan and shows what the program writes. A plan that was deleted while the stage has waited for an
// approval, because it is old, is made again.
func (p *plugin) run(ctx context.Context, req *executeRequest, found ready) error {
	if _, err := os.Stat(found.plan.File); errors.Is(err, fs.ErrNotExist) {
		req.Log.Info("The plan that was shown was deleted meanwhile, so it is made again")
		digest := found.plan.Changes.Digest()
		if found.plan, err = remade(ctx, req, found.session, found.plan.File, digest); err != nil {
			return fmt.Errorf("%w: %w", command.ErrNotBegun, err)
		}
	}
	output := req.Log.Lines()
	defer func() { _ = output.Close() }()
	defer p.watch.mark(req.Deployment.Application.ID)
	stop := context.AfterFunc(ctx, func() {
		if session.GoesOn(sdk.StopCause(ctx)) {
			return
		}
		req.Log.Infof("Interrupting the program, which finishes what it has begun: %v", sdk.StopCause(ctx))
	})
	defer stop()
	return again(found.session.Apply(ctx, found.plan, output))
}
