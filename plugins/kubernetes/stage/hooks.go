// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/rollout"
)

// OccasionOf returns what a deployment is: the installation when the application was never deployed successfully, an
// upgrade otherwise.
func OccasionOf(running *Source) phase.Occasion {
	if running == nil || running.CommitHash == "" {
		return phase.Install
	}
	return phase.Upgrade
}

// hooks runs the hooks of a commit at a deploy target.
type hooks struct {
	*Executor
	req    *Request
	client *cluster.Client
	source *Source
	plan   phase.Plan
}

// hooksOf arranges the hooks among the manifests of the new commit.
func (e *Executor) hooksOf(req *Request, manifests []manifest.Manifest) (*hooks, error) {
	plan, err := phase.Arrange(manifests, OccasionOf(req.Running))
	return &hooks{Executor: e, req: req, source: req.Target, plan: plan}, err
}

// targetHooks loads the hooks of the new commit, for a stage that needs nothing else of it.
func (e *Executor) targetHooks(ctx context.Context, req *Request) (*hooks, error) {
	loaded, err := e.loader.LoadAs(ctx, req.Targets, req.Target, e.rendering(req, nil))
	if err != nil {
		return nil, fmt.Errorf("load the manifests at commit %s: %w", short(req.Target.CommitHash), err)
	}
	return e.hooksOf(req, loaded.Manifests)
}

// around runs the hooks of the new commit around a change of the cluster: those before it unless they have run in this
// deployment, those after it when no other stage changes the cluster, and those for a failure when there is one.
func (h *hooks) around(ctx context.Context, c *cluster.Client, change func() error) error {
	h.client = c
	err := h.run(ctx, phase.Before)
	if err == nil {
		err = change()
	}
	if err == nil && len(h.plan.At(phase.After)) > 0 {
		var last bool
		if last, err = isLastChange(h.req); err == nil && last {
			err = h.run(ctx, phase.After)
		}
	}
	if err != nil && ctx.Err() == nil { // what was stopped has its hooks run by the rollback
		h.runOnFailure(ctx)
	}
	return err
}

// sync applies the manifests of the rollout and waits until they are ready. A hook among them runs once.
func (h *hooks) sync(ctx context.Context, manifests []manifest.Manifest) ([]apply.Applied, error) {
	own := h.plan.Hooks(phase.Sync)
	if len(own) > 0 {
		done, err := h.recall(ctx, phase.Sync)
		if err != nil {
			return nil, err
		}
		manifests = slices.DeleteFunc(slices.Clone(manifests), done.has)
		h.mark(phase.Sync, manifests)
	}
	applied, err := h.apply(ctx, h.req, h.client, primaryOf(h.source), manifests)
	if err == nil {
		err = h.wait(ctx, h.req, h.client, h.source, applied)
	}
	switch {
	case len(own) == 0:
		return applied, err
	case err != nil:
		return applied, h.failed(ctx, phase.Sync, own, err)
	}
	if _, err := h.note(ctx, phase.Sync, own); err != nil {
		return applied, err
	}
	return applied, h.collect(ctx, own, succeeded)
}

// sayIdle names the hooks that do not run in this deployment.
func (h *hooks) sayIdle() {
	for _, m := range h.plan.Idle {
		why := string(h.plan.Occasion) + " has no such moment"
		if phase.Never(m) {
			why = "such a hook never runs"
		}
		h.req.Log.Infof("Not run: %s, because %s", phase.Describe(m), why)
	}
}

// hooksOnFailure runs the hooks for a failed rollout at the end of a rollback, unless a stage has run them: the
// deployment failed in a stage of another plugin, or was stopped.
func (e *Executor) hooksOnFailure(ctx context.Context, req *Request, c *cluster.Client) {
	if begun, err := HasBegun(ctx, req); err != nil || !begun {
		return // nothing was rolled out
	}
	h, err := e.targetHooks(ctx, req)
	if err != nil {
		req.Log.Infof("No hooks for the failure are run: %v", err)
		return
	}
	h.client = c
	h.runOnFailure(ctx)
}

// runOnFailure runs the hooks for a failed rollout. Their own failure is only logged: the reason of the first one
// counts. They do not run again after it, unless they were stopped.
func (h *hooks) runOnFailure(ctx context.Context) {
	err := h.run(ctx, phase.OnFailure)
	if err == nil {
		return
	}
	h.req.Log.Errorf("A hook for the failed rollout failed, too: %v", err)
	if ctx.Err() != nil {
		return
	}
	done, err := h.recall(ctx, phase.OnFailure)
	if err == nil {
		err = h.finish(ctx, phase.OnFailure, done)
	}
	if err != nil {
		h.req.Log.Errorf("Cannot note that the hooks for the failed rollout have run: %v", err)
	}
}

// moments are the words for the log.
var moments = map[phase.Moment]string{
	phase.Before:    "before the rollout",
	phase.Sync:      "in the rollout",
	phase.After:     "after the rollout",
	phase.OnFailure: "for the failed rollout",
}

// words name so many hooks of a moment: "2 hooks before the rollout", or "hooks before the rollout" for none.
func (h *hooks) words(n int, m phase.Moment) string {
	noun := "hook"
	if m == phase.Test {
		noun = "test"
	}
	text := noun + "s"
	if n > 0 {
		text = plural(n, noun)
	}
	if m == phase.Test {
		return text
	}
	return text + " " + strings.ReplaceAll(moments[m], "rollout", h.rollout())
}

// rollout is what the hooks run around.
func (h *hooks) rollout() string {
	switch h.plan.Occasion {
	case phase.Rollback:
		return "rollback"
	case phase.Removal:
		return "deletion"
	}
	return "rollout"
}

// run runs the hooks of a moment wave by wave, each once, however often the stage is begun or another one follows.
func (h *hooks) run(ctx context.Context, m phase.Moment) error {
	due := h.plan.At(m)
	if len(due) == 0 {
		return nil
	}
	done, err := h.recall(ctx, m)
	switch {
	case err != nil:
		return err
	case done.Finished:
		h.req.Log.Infof("The %s have run in this deployment", h.words(0, m))
		return nil
	}
	left := slices.DeleteFunc(slices.Clone(due), done.has)
	waves, err := phase.Waves(left)
	if err != nil {
		return err
	}
	if len(left) > 0 {
		if err := h.provideImages(ctx, h.req, h.source, left); err != nil {
			return err
		}
		if err := h.prepare(ctx, m); err != nil {
			return err
		}
	}
	for _, w := range waves {
		if err := h.runWave(ctx, m, w); err != nil {
			return h.failed(ctx, m, due, err)
		}
		if done, err = h.note(ctx, m, w.Manifests()); err != nil {
			return err
		}
	}
	if err := h.collect(ctx, due, succeeded); err != nil {
		return err
	}
	h.req.Log.Successf("The %s are done", h.words(0, m))
	return h.finish(ctx, m, done)
}

// prepare applies what the hooks need and the rollout has not brought yet. Before a deletion all is there.
func (h *hooks) prepare(ctx context.Context, m phase.Moment) error {
	if h.plan.Occasion == phase.Removal {
		return nil
	}
	needed := h.plan.Needed(m)
	if m != phase.Before && m != phase.OnFailure || len(needed) == 0 {
		return nil
	}
	h.req.Log.Infof("The hooks need %s first", names(needed))
	_, err := h.apply(ctx, h.req, h.client, primaryOf(h.source), needed)
	return err
}

// runWave applies one wave and waits until its hooks have ended or are healthy.
func (h *hooks) runWave(ctx context.Context, m phase.Moment, w phase.Wave) error {
	made := manifest.CloneAll(w.Manifests())
	h.req.Log.Infof("Running %s: %s", h.words(len(made), m), names(made))
	v := primaryOf(h.source)
	v.stamp(h.req, made)
	h.mark(m, made)
	waves, err := phase.Waves(made)
	if err != nil {
		return err
	}
	applier, err := h.applier(ctx, h.req, h.client, h.source)
	if err != nil {
		return err
	}
	applier.Restore = nil // a hook runs whatever the failed deployment did
	applied, err := applier.Apply(ctx, waves)
	if err != nil {
		return err
	}
	return h.await(ctx, applied)
}

// await waits for hooks until they have ended or are healthy.
func (h *hooks) await(ctx context.Context, applied []apply.Applied) error {
	waited := workloads(applied, h.readiness.hasHealth)
	if len(waited) == 0 {
		return nil
	}
	options := h.readiness.options(h.source, applied)
	h.req.Log.Infof("Waiting for %s to end or to be healthy, at most %s", plural(len(waited), "hook"), options.Timeout)
	return rollout.Wait(ctx, h.client, waited, options, h.req.Log)
}

// failed deletes what its policy says after a failure, and words the error of the stage. A stop is no failure.
func (h *hooks) failed(ctx context.Context, m phase.Moment, due []manifest.Manifest, cause error) error {
	if ctx.Err() != nil {
		h.nameRunning(ctx, due)
		return cause
	}
	done, err := h.recall(ctx, m)
	if err == nil {
		err = h.collect(ctx, due, outcomeOf(cause, done, h.client.Namespace))
	}
	if err != nil {
		h.req.Log.Errorf("%v", err)
	}
	switch {
	case m == phase.Before && h.plan.Occasion == phase.Removal:
		return removed(h.req, "a hook before the deletion failed, so nothing was deleted: %w", cause)
	case m == phase.After && h.plan.Occasion == phase.Removal:
		return removed(h.req, "a hook after the deletion failed: %w", cause)
	case m == phase.Before && h.plan.Occasion == phase.Rollback:
		return fmt.Errorf("a hook before the rollback failed, so nothing was rolled back: %w", cause)
	case m == phase.Before:
		return fmt.Errorf("a hook before the rollout failed, so nothing was rolled out: %w", cause)
	case m == phase.After:
		return fmt.Errorf("a hook after the %s failed: %w", h.rollout(), cause)
	case m == phase.Test:
		return fmt.Errorf("a test failed: %w", cause)
	}
	return cause
}

// isLastChange reports whether no later stage of the pipeline changes the cluster.
func isLastChange(req *Request) (bool, error) {
	if req.QuickSync() {
		return true, nil
	}
	stages, err := req.Target.App.PipelineStages(req.Target.ConfigData)
	if err != nil {
		return false, fmt.Errorf("read the pipeline of %s at commit %s: %w", req.Target.ConfigFilename,
			short(req.Target.CommitHash), err)
	}
	return !slices.ContainsFunc(stages, func(s config.PipelineStage) bool {
		return s.Index > req.Stage.Index && config.ChangesCluster(s.Name)
	}), nil
}

// maxNames bounds the manifests that one line names.
const maxNames = 20

// names lists manifests, each with what makes it a hook.
func names(manifests []manifest.Manifest) string {
	var list []string
	for i, m := range manifests {
		if i == maxNames {
			list = append(list, fmt.Sprintf("and %d more", len(manifests)-i))
			break
		}
		list = append(list, phase.Describe(m))
	}
	return strings.Join(list, ", ")
}

// failedKeys are the objects that an error names as failed.
func failedKeys(err error) map[manifest.Key]bool {
	keys := map[manifest.Key]bool{}
	if failures, ok := errors.AsType[*rollout.FailuresError](err); ok {
		for _, one := range failures.Failed {
			keys[one.Key] = true
		}
	}
	return keys
}
