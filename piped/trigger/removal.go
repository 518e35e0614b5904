// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/removal"
)

// Removals says what becomes of applications that are deleted in Git. Its functions may be nil.
type Removals struct {
	// Default is for applications whose last configuration says nothing; empty is keep.
	Default config.Removal
	// Supported reports whether the control plane removes applications; only then anything but keep counts.
	Supported func() bool
	// Forget removes an application at the control plane.
	Forget func(ctx context.Context, application string) error
	// Refuse says why what an application has deployed cannot be deleted; empty when it can, or is not known.
	Refuse func(context.Context, *config.Application) string
}

// removals remembers for which commit each application that is gone was acted on.
type removals struct {
	Removals
	done map[string]string // heads by application
	// waits names, by the application that is gone, those that its removal waits for.
	waits map[string]awaited
	// failed are the last deployments of the applications that are gone, to say of removals that they have failed.
	failed map[string]failedRemoval
	// successors are, by the application that is gone, the ids of those that it waits for.
	successors map[string]map[string]bool
}

func newRemovals(options Removals) *removals {
	r := &removals{
		Removals: options, done: map[string]string{}, waits: map[string]awaited{},
		failed:     map[string]failedRemoval{},
		successors: map[string]map[string]bool{},
	}
	if r.Supported == nil || r.Forget == nil {
		r.Supported = func() bool { return false }
	}
	if r.Refuse == nil {
		r.Refuse = func(context.Context, *config.Application) string { return "" }
	}
	return r
}

// keep forgets all applications but those that exist.
func (r *removals) keep(exists func(application string) bool) {
	for application := range r.done {
		if !exists(application) {
			delete(r.done, application)
		}
	}
	for application := range r.successors {
		if !exists(application) {
			r.forget(application)
		}
	}
	maps.DeleteFunc(r.failed, func(application string, _ failedRemoval) bool { return !exists(application) })
}

// forget forgets what an application waits for, which is in Git or removed.
func (r *removals) forget(application string) {
	delete(r.waits, application)
	delete(r.failed, application)
	delete(r.successors, application)
}

// plannedRemoval is what becomes of an application that is gone from Git.
type plannedRemoval struct {
	policy config.Removal
	// hash is the commit that was deployed last; empty when there was none.
	hash string
}

// planRemovals decides what becomes of the applications that are gone from Git, and reports which removals wait.
func (t *Trigger) planRemovals(ctx context.Context, candidates []*candidate) error {
	changed := false
	err := each(candidates, func(c *candidate) error {
		id := c.application.GetId()
		missing, isMissing := errors.AsType[*MissingError](c.err)
		if !isMissing {
			t.removals.forget(id)
			return nil
		}
		before := t.removals.waits[id]
		if err := t.planRemoval(ctx, c); err != nil {
			return err
		}
		missing.awaited = t.removals.waits[id]
		failed := t.removals.failed[id]
		if err := t.noteFailed(ctx, c); err != nil {
			return err
		}
		missing.failed = t.removals.failed[id]
		changed = changed || failed != missing.failed
		if before.equal(missing.awaited) {
			return nil
		}
		changed = true
		if len(missing.WaitsFor) > 0 {
			t.logger.Info("the removal of an application waits until others are deployed, which may take over what it "+
				"has deployed", "application", c.application.GetName(), "waitsFor", missing.WaitsFor)
		}
		return nil
	})
	if changed {
		t.options.Configured(configured(candidates))
	}
	return err
}

// noteFailed remembers whether the last deployment of an application that is gone was a removal without success.
func (t *Trigger) noteFailed(ctx context.Context, c *candidate) error {
	id := c.application.GetId()
	if known := t.removals.failed[id].id; known != "" && known == t.history.lastID(c.application) {
		return nil
	}
	delete(t.removals.failed, id)
	last, err := t.history.lastDeployment(ctx, c.application)
	if err != nil || last == nil {
		return err
	}
	found := failedRemoval{id: last.GetId()}
	switch status := last.GetStatus(); {
	case !removal.Is(last):
	case status == model.DeploymentStatus_DEPLOYMENT_FAILURE:
		found.outcome, found.reason = "has failed", last.GetStatusReason()
	case status == model.DeploymentStatus_DEPLOYMENT_CANCELLED:
		found.outcome, found.reason = "was cancelled", last.GetStatusReason()
	default:
		return nil // it has not ended
	}
	found.reason, _, _ = strings.Cut(firstLine(errors.New(found.reason)), "; next step: ") // ours follows
	t.removals.failed[id] = found
	return nil
}

// planRemoval decides about an application that is gone from Git, as its last configuration or piped's wants: once for
// each head of the branch. A repository without any application is taken for a mistake, such as a wrong branch.
func (t *Trigger) planRemoval(ctx context.Context, c *candidate) error {
	id, head := c.application.GetId(), c.snapshot.head.Hash
	delete(t.removals.waits, id)
	if c.deployed || len(c.snapshot.files) == 0 || t.removals.done[id] == head || !t.removals.Supported() {
		return nil
	}
	if file := t.unread(c); file != "" {
		t.logger.Warn("an application that is gone is kept until all configurations can be read: it may be in the "+
			"one that cannot", "application", c.application.GetName(), "file", file)
		t.removals.done[id] = head
		return nil
	}
	policy := t.removals.Default
	hash, err := t.history.deployed(ctx, c.application)
	if err != nil {
		return err
	}
	if hash != "" {
		at, err := c.last(ctx, hash)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			t.logger.Warn("the last configuration of an application that is gone cannot be read, so it is kept",
				"application", c.application.GetName(), "commit", hash, "error", err)
			policy = config.RemovalKeep
		default:
			policy = cmp.Or(at.config.OnRemoved, policy)
		}
	}
	if policy == config.RemovalPrune {
		if waits := t.successors(c); len(waits.WaitsFor) > 0 {
			t.removals.waits[id] = waits
			t.schedule.within(t.options.Interval)
			return nil
		}
	}
	c.removal = &plannedRemoval{policy: policy, hash: hash}
	return nil
}

// onRemoved does what was planned for an application that is gone from Git.
func (t *Trigger) onRemoved(ctx context.Context, c *candidate) error {
	if c.removal == nil {
		return nil
	}
	err := t.act(ctx, c, c.removal.policy, c.removal.hash)
	var unremovable *unremovableError
	if errors.As(err, &unremovable) {
		t.logger.Warn("an application that is gone cannot be removed, so it is kept", "error", err)
		err = nil
	}
	if err == nil {
		t.removals.done[c.application.GetId()] = c.snapshot.head.Hash
	}
	return err
}

// unread is a configuration in the application's repository that cannot be read and was never deployed: perhaps that of
// a directory which was moved, with a mistake. Empty when there is none.
func (t *Trigger) unread(c *candidate) string {
	registered := t.applications.byFile()
	for _, path := range slices.Sorted(maps.Keys(c.snapshot.files)) {
		known := registered[fileKey(c.application.GetGitPath().GetRepo().GetId(), path)]
		if c.snapshot.files[path].application == nil && known.GetMostRecentlySuccessfulDeployment() == nil {
			return path
		}
	}
	return ""
}

// successors names the applications of the same repository that may take over what an application has deployed, which
// is gone: those that are new, until they have been deployed once with success, and those that were being deployed when
// it was seen to be gone, such as by the same commit. Deployments of other applications that begin later are not waited
// for, so that a busy repository does not keep what is gone for ever.
func (t *Trigger) successors(c *candidate) (found awaited) {
	id, repository := c.application.GetId(), c.application.GetGitPath().GetRepo().GetId()
	registered := t.applications.byFile()
	since, seen := t.removals.successors[id]
	still := map[string]bool{}
	for path, f := range c.snapshot.files {
		a := registered[fileKey(repository, path)]
		if f.application == nil {
			continue
		}
		if a == nil {
			if t.registrar.selects(f) {
				found.WaitsFor = append(found.WaitsFor, f.name)
			}
			continue
		}
		isBusy, isNew := a.GetDeploying() || t.underway[a.GetId()] > 0, a.GetMostRecentlySuccessfulDeployment() == nil
		if isBusy && (isNew || !seen) || isNew && isYounger(a, c.application) || since[a.GetId()] && (isBusy || isNew) {
			still[a.GetId()] = true
			found.WaitsFor = append(found.WaitsFor, a.GetName())
			if !isBusy && a.GetMostRecentlyTriggeredDeployment() != nil {
				found.Idle = append(found.Idle, a.GetName())
			}
		}
	}
	t.removals.successors[id] = still
	slices.Sort(found.WaitsFor)
	slices.Sort(found.Idle)
	return found
}

// isYounger reports whether an application has been tried, and came after the last deployment of another one: a piped
// that was started again knows by that for whom the removal waits.
func isYounger(a, gone *model.Application) bool {
	last := gone.GetMostRecentlySuccessfulDeployment()
	return last != nil && a.GetMostRecentlyTriggeredDeployment() != nil && a.GetCreatedAt() >= last.GetStartedAt()
}

// act removes an application by a policy. The id of the deployment is made from the application and the head, so that a
// piped that was killed does not remove twice.
func (t *Trigger) act(ctx context.Context, c *candidate, policy config.Removal, hash string) error {
	a, head := c.application, c.snapshot.head.Hash
	switch {
	case policy == config.RemovalOrphan, policy == config.RemovalPrune && hash == "":
		t.logger.Info("application forgotten: its configuration is gone from Git", "application", a.GetName(),
			"commit", head)
		return t.removals.Forget(ctx, a.GetId())
	case policy == config.RemovalPrune:
		by := fmt.Sprintf("its deletion in Git at commit %.7s", head)
		return t.createRemoval(ctx, c, hash, cause{
			kind: onCommit, id: uuid.NewSHA1(uuid.NameSpaceOID, []byte("remove "+a.GetId()+" "+head)).String(),
			why: removal.Summary(by), log: by,
		})
	}
	return nil
}

// unremovableError says why what an application has deployed cannot be deleted.
type unremovableError struct {
	application, commit string
	cause               error
}

// Error names the application, the commit and the cause.
func (e *unremovableError) Error() string {
	return fmt.Sprintf("application %s cannot be removed by commit %.7s, which was deployed last: %v",
		e.application, e.commit, e.cause)
}

// Unwrap returns the cause.
func (e *unremovableError) Unwrap() error { return e.cause }

// createRemoval creates a deployment that deletes what the application has deployed. hash is the commit that was
// deployed last: its manifests name what runs.
func (t *Trigger) createRemoval(ctx context.Context, c *candidate, hash string, why cause) error {
	looked, err := t.history.previous(ctx, c.application)
	if err != nil {
		return err
	}
	at, err := c.last(ctx, hash)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &unremovableError{c.application.GetName(), hash, err}
	}
	if why := t.removals.Refuse(ctx, at.config); why != "" {
		return &unremovableError{c.application.GetName(), hash, errors.New(why)}
	}
	at.looked = cmp.Or(looked, hash)
	why.notes = removal.Notes()
	return t.createAt(ctx, c, at, why)
}

// last reads the application at the commit that was deployed last. Nothing follows its removal.
func (c *candidate) last(ctx context.Context, hash string) (revision, error) {
	commit, err := c.repository.git.Commit(ctx, hash)
	if err != nil {
		return revision{}, err
	}
	name, data, err := c.configurationAt(ctx, hash)
	if err != nil {
		return revision{}, err
	}
	read := readFile(name, data, nil)
	if read.err != nil {
		return revision{}, fmt.Errorf("its configuration is invalid: %w", read.err)
	}
	return revision{commit: commit, config: read.application}, nil
}
