// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
)

// rollback brings the running commit back and removes what the failed deployment has added. Before the first success
// there is nothing to go back to: then the cluster is left as it was before the deployment. (PipeCD v1 fails in that
// case, and never removes what was added.)
func (e *Executor) rollback(ctx context.Context, req *Request) error {
	client, err := e.connect(ctx, req)
	if err != nil {
		return err
	}
	err = e.restore(ctx, req, client)
	e.hooksOnFailure(ctx, req, client) // last, so that nothing holds the rollback up
	return err
}

// restore brings the running commit back with its hooks around, or removes what was created where there is none.
func (e *Executor) restore(ctx context.Context, req *Request, client *cluster.Client) error {
	if req.Running == nil || req.Running.CommitHash == "" {
		req.Log.Info("The application has never been deployed successfully: removing what this deployment created")
		return e.removeCreated(ctx, req, client, req.Target, nil)
	}
	s := req.Running
	req.Log.Infof("Rolling back to commit %s", short(s.CommitHash))
	loaded, all, err := e.primaryManifests(ctx, req, s)
	if err != nil {
		return err
	}
	err = e.restoreTo(ctx, req, client, s, all)
	recordRelease(ctx, req, client, outcome{source: s, loaded: loaded, did: "Rolled back to", failed: err})
	return err
}

func (e *Executor) restoreTo(ctx context.Context, req *Request, client *cluster.Client, s *Source,
	all []manifest.Manifest) error {
	plan, err := phase.Arrange(all, phase.Rollback)
	if err != nil {
		return err
	}
	h := &hooks{Executor: e, req: req, client: client, source: s, plan: plan}
	h.sayIdle()
	if err := h.run(ctx, phase.Before); err != nil {
		return err
	}
	if err := e.goBack(ctx, req, client, s, plan); err != nil {
		return err
	}
	if err := h.run(ctx, phase.After); err != nil {
		return err
	}
	req.Log.Successf("Rolled back to commit %s", short(s.CommitHash))
	return nil
}

// goBack applies what the running commit has, gives its primary the traffic back and removes the rest.
func (e *Executor) goBack(ctx context.Context, req *Request, c *cluster.Client, s *Source, plan phase.Plan) error {
	manifests := plan.At(phase.Sync)
	if err := e.provideImages(ctx, req, s, manifests); err != nil {
		return err
	}
	first, routes, err := holdRoutes(ctx, req, c, manifests)
	if err != nil {
		return err
	}
	applied, err := e.apply(ctx, req, c, primaryOf(s), first)
	if err != nil {
		return err
	}
	var notReady error
	if len(routes) > 0 {
		notReady, err = e.routeBack(ctx, req, c, s, applied, routes)
	} else if err = e.removeAdded(ctx, req, c, s, applied); err == nil {
		notReady = e.wait(ctx, req, c, s, applied)
	}
	if err != nil {
		return err
	}
	if notReady != nil {
		return fmt.Errorf("the rollback itself is not ready: %w", notReady)
	}
	return nil
}

// primaryManifests are the manifests of the running commit's primary, as a rollback applies them.
func (e *Executor) primaryManifests(ctx context.Context, req *Request, s *Source) (loaded *Loaded,
	all []manifest.Manifest, err error) {
	if loaded, err = e.loadRelease(ctx, req, s); err != nil {
		return nil, nil, err
	}
	options, err := selectorOptions(s)
	if err != nil {
		return nil, nil, err
	}
	all, err = variant.Primary(loaded.Manifests, &s.App, options)
	return loaded, all, err
}

// failedManifests gives the primary's manifests of the failed deployment, with the marks of the commit that is
// restored. They are loaded when they are asked for, once.
func (e *Executor) failedManifests(req *Request, restored *Source) func(context.Context) ([]manifest.Manifest, error) {
	var (
		mu    sync.Mutex
		known []manifest.Manifest
	)
	return func(ctx context.Context) ([]manifest.Manifest, error) {
		mu.Lock()
		defer mu.Unlock()
		if known != nil {
			return known, nil
		}
		loaded, err := e.loader.LoadAs(ctx, req.Targets, req.Target, e.rendering(req, nil))
		if err != nil {
			return nil, fmt.Errorf("load the manifests at commit %s: %w", short(req.Target.CommitHash), err)
		}
		options, err := selectorOptions(req.Target)
		if err != nil {
			return nil, err
		}
		manifests, err := variant.Primary(loaded.Manifests, &req.Target.App, options)
		if err != nil {
			return nil, err
		}
		primaryOf(restored).stamp(req, manifests)
		known = manifests
		return known, nil
	}
}

// routeBack waits for the primary that was applied, gives it the traffic back, and only then removes what may have had
// the traffic. notReady is why the primary is not ready as a whole, although it serves.
func (e *Executor) routeBack(ctx context.Context, req *Request, c *cluster.Client, s *Source, applied []apply.Applied,
	routes []manifest.Manifest) (notReady, err error) {
	if notReady = e.wait(ctx, req, c, s, applied); notReady != nil {
		if err := stillServing(ctx, req, applied, notReady); err != nil {
			return notReady, err
		}
	}
	routed, err := e.apply(ctx, req, c, primaryOf(s), routes)
	if err != nil {
		return notReady, err
	}
	return notReady, e.removeAdded(ctx, req, c, s, slices.Concat(applied, routed))
}

// removeAdded deletes the other variants and what else the failed deployment has created.
func (e *Executor) removeAdded(ctx context.Context, req *Request, c *cluster.Client, s *Source,
	applied []apply.Applied) error {
	for _, name := range []string{s.App.VariantLabel.CanaryValue, s.App.VariantLabel.BaselineValue} {
		if err := e.cleanVariant(ctx, req, c, s, name); err != nil {
			return err
		}
	}
	return e.removeCreated(ctx, req, c, s, applied)
}

// removeCreated deletes what this deployment has created and is not among what was applied now. What the deployment
// only changed, because it was there before, stays, with the marks of the application that had it: the next prune would
// take it for something that Git has lost. What a newer commit has stays, too.
func (e *Executor) removeCreated(ctx context.Context, req *Request, c *cluster.Client, s *Source,
	applied []apply.Applied) error {
	keep := liveKeys(applied)
	items, err := find(ctx, req, c, s, labels.Set{manifest.LabelCommitHash: req.Target.CommitHash}, keep...)
	if err != nil {
		return err
	}
	listed, err := e.lookUp(ctx, req, c, req.Target, func(i inventory.Item) bool {
		return i.Meta.Annotations[manifest.LabelCommitHash] == req.Target.CommitHash
	})
	if err != nil {
		return err
	}
	created, running, err := sortOut(ctx, req, c, s, inventory.ExceptSame(
		inventory.Except(inventory.Union(listed, items), keep), liveUIDs(applied)))
	if err != nil {
		return err
	}
	if len(created)+len(running) == 0 {
		req.Log.Infof("The failed deployment has created nothing that has to be removed")
		return nil
	}
	created, err = amongStaying(created, func(staying []inventory.Item) ([]inventory.Item, error) {
		return notAtHead(ctx, e, req, c, s, staying)
	})
	if err != nil {
		return err
	}
	if created = append(created, running...); len(created) == 0 {
		return nil
	}
	deleted, err := e.delete(ctx, req, c, created)
	if err != nil {
		return err
	}
	if text := createdText(deleted); text != "" {
		req.Log.Success(text)
	}
	return nil
}

// createdText is what became of resources that a failed deployment has created; empty when nothing did. Those that are
// kept are named by then.
func createdText(deleted inventory.Deleted) string {
	const created = " that the failed deployment created"
	switch gone, waits := deleted.Gone, deleted.Terminating; {
	case gone > 0:
		return "Removed " + plural(gone, "resource") + created + stillTerminating(deleted)
	case waits == 1:
		return plural(waits, "resource") + created + " is still Terminating"
	case waits > 1:
		return plural(waits, "resource") + created + " are still Terminating"
	}
	return ""
}

// sortOut lets go what the deployment has not created, and returns what it has: objects, and hooks that still run.
func sortOut(ctx context.Context, req *Request, c *cluster.Client, s *Source, items []inventory.Item) (created,
	running []inventory.Item, err error) {
	since, err := began(ctx, req)
	if err != nil {
		return nil, nil, err
	}
	was, _, err := takenOverKey(&s.App).Get(ctx, req.Client)
	if err != nil {
		return nil, nil, err
	}
	for _, item := range items {
		if was.has(item.Meta.UID) || item.Meta.CreationTimestamp.Time.Before(since) {
			if err := letGo(ctx, req, c, s, item, was); err != nil {
				return nil, nil, err
			}
			continue
		}
		if run := item.Meta.Annotations[manifest.AnnotationHookRun]; run != "" && !inventory.IsLeaving(item) {
			runs, err := isRunningHook(ctx, req, c, item)
			if err != nil {
				return nil, nil, err
			}
			if runs {
				req.Log.Infof("- %s: a hook of the deployment that still runs, and is ended", item.Key.Human())
				running = append(running, item)
				continue
			}
			req.Log.Infof("- %s: is kept, since its delete policy decides about a hook", item.Key.Human())
			continue
		}
		created = append(created, item)
	}
	return created, running, nil
}

// selectorOptions reports how the running commit's primary was made: selectors cannot be changed, so a rollback has to
// put the variant into them exactly when the deployment of that commit did.
func selectorOptions(s *Source) (config.PrimaryOptions, error) {
	stages, err := s.App.PipelineStages(s.ConfigData)
	if err != nil {
		return config.PrimaryOptions{}, fmt.Errorf("read the pipeline of %s at commit %s: %w", s.ConfigFilename,
			short(s.CommitHash), err)
	}
	o := config.PrimaryOptions{AddVariantLabelToSelector: s.App.QuickSync.AddVariantLabelToSelector,
		Suffix: config.DefaultPrimaryValue}
	for _, stage := range stages {
		switch stage.Name {
		case config.StageSync, config.StagePrimaryRollout:
			with, err := config.DecodePrimary(stage.With)
			if err != nil {
				return o, err
			}
			o.AddVariantLabelToSelector = o.AddVariantLabelToSelector || with.AddVariantLabelToSelector
			if stage.Name == config.StagePrimaryRollout && with.CreateService {
				o.CreateService, o.Suffix = true, with.Suffix
			}
		}
	}
	return o, nil
}
