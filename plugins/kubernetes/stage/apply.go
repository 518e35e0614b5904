// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/health"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/rollout"
)

// variantOf is a variant of a commit, which a stage applies.
type variantOf struct {
	source *Source
	// label is what marks variants, and variant the value of this one.
	label   config.VariantLabel
	variant string
}

// primaryOf is the primary of a commit.
func primaryOf(s *Source) variantOf {
	return variantOf{source: s, label: s.App.VariantLabel, variant: s.App.VariantLabel.PrimaryValue}
}

// canaryOf is the canary of a commit.
func canaryOf(s *Source) variantOf {
	return variantOf{source: s, label: s.App.VariantLabel, variant: s.App.VariantLabel.CanaryValue}
}

// stamp marks the manifests of the variant.
func (v variantOf) stamp(req *Request, manifests []manifest.Manifest) {
	stamp := manifest.Stamp{
		PipedID:       req.Deployment.PipedID,
		ApplicationID: req.Deployment.Application.ID,
		CommitHash:    v.source.CommitHash,
		VariantKey:    v.label.Key,
		Variant:       v.variant,
		DeployTarget:  v.source.App.DeployTarget(),
	}
	stamp.Apply(manifests)
}

// apply stamps the manifests as the variant and applies them.
func (e *Executor) apply(ctx context.Context, req *Request, c *cluster.Client, v variantOf,
	manifests []manifest.Manifest) ([]apply.Applied, error) {
	v.stamp(req, manifests)
	if err := v.checkNames(ctx, c, manifests, naming(ctx, req)); err != nil {
		return nil, err
	}
	waves, err := phase.Waves(manifests)
	if err != nil {
		return nil, err
	}
	applier, err := e.applier(ctx, req, c, v.source)
	if err != nil {
		return nil, err
	}
	applier.Scaled = apply.Scaled(manifests)
	req.Log.Infof("Applying %s to %s", plural(len(manifests), "manifest"), c.Server)
	applied, err := applier.Apply(ctx, waves)
	if err != nil {
		if len(applied) > 0 {
			req.Log.Infof("%d of %s were applied before the error", len(applied), plural(len(manifests), "manifest"))
		}
		return applied, err
	}
	return applied, nil
}

// applier returns what applies manifests of a source in this stage. It notes when the deployment began to change the
// cluster, and creates the namespace that the application asks for.
func (e *Executor) applier(ctx context.Context, req *Request, c *cluster.Client, s *Source) (*apply.Applier, error) {
	applier := apply.New(c, req.Log)
	applier.Seen, applier.Judges, applier.Named = e.seen, e.readiness.rules.Judges, naming(ctx, req)
	applier.BothHave = bothHave(e, req, c, s)
	applier.WaveEnd = func(ctx context.Context, w phase.Wave, applied []apply.Applied) error {
		return e.endWave(ctx, req, c, s, w, applied)
	}
	if isRollback(req) {
		since, err := began(ctx, req)
		if err != nil {
			return nil, err
		}
		applier.Restore = &apply.Restoration{CommitHash: req.Target.CommitHash, Began: since,
			Failed: e.failedManifests(req, s)}
	} else if since, err := noteBegan(ctx, req, c); err != nil {
		return nil, err
	} else {
		applier.TakesOver, applier.Since = noteTakenOver(req, s), since
	}
	if in := s.App.Input; in.AutoCreateNamespace && in.Namespace != "" {
		if err := applier.EnsureNamespace(ctx, in.Namespace); err != nil {
			return nil, err
		}
	}
	return applier, nil
}

// endWave waits until what a wave has applied is healthy: then the next wave begins. In a rollback the next wave begins
// in any case, because it is more likely to serve than what it replaces; the rollback fails at its end.
func (e *Executor) endWave(ctx context.Context, req *Request, c *cluster.Client, s *Source, w phase.Wave,
	applied []apply.Applied) error {
	waited, _ := awaited(s, applied, e.readiness.hasHealth)
	if w.Number == phase.Foundation || len(waited) == 0 {
		return nil
	}
	options, err := e.waiting(ctx, req, c, s, applied)
	if err != nil {
		return err
	}
	req.Log.Infof("Waiting for %s of wave %d to be healthy, at most %s; then the next wave is applied",
		plural(len(waited), "object"), w.Number, options.Timeout)
	err = rollout.Wait(ctx, c, waited, options, req.Log)
	switch {
	case err == nil || ctx.Err() != nil:
		return err
	case isRollback(req):
		req.Log.Infof("Wave %d is not healthy, and the rollback goes on: %v", w.Number, err)
		return nil
	}
	return fmt.Errorf("wave %d is not healthy, so no later wave was applied: %w", w.Number, err)
}

// workloads are the objects that are waited for.
func workloads(applied []apply.Applied, isWaited func(*unstructured.Unstructured) bool) []rollout.Workload {
	var found []rollout.Workload
	for _, a := range applied {
		if isWaited(a.Live) {
			found = append(found, rollout.Workload{Live: a.Live, Resource: a.Resource,
				Hook: manifest.IsHook(a.Manifest)})
		}
	}
	return found
}

// awaited are the objects that a stage waits for. Hooks are waited for in any case: else they were none. others is the
// number of those that are not, because the application does not want that.
func awaited(s *Source, applied []apply.Applied,
	isWaited func(*unstructured.Unstructured) bool) (found []rollout.Workload, others int) {
	all := workloads(applied, isWaited)
	if s.App.Input.WaitsReady() {
		return all, 0
	}
	found = slices.DeleteFunc(slices.Clone(all), func(w rollout.Workload) bool { return !w.Hook })
	return found, len(all) - len(found)
}

// wait waits until what was applied is ready, unless the application does not want that.
func (e *Executor) wait(ctx context.Context, req *Request, c *cluster.Client, s *Source,
	applied []apply.Applied) error {
	waited, others := awaited(s, applied, e.readiness.isWaited)
	if others > 0 {
		req.Log.Infof("Not waiting for %s to be ready (input.waitReady: false)", plural(others, "workload"))
	}
	if len(waited) == 0 {
		return nil
	}
	options, err := e.waiting(ctx, req, c, s, applied)
	if err != nil {
		return err
	}
	req.Log.Infof("Waiting for %s to be ready, at most %s", plural(len(waited), "workload"), options.Timeout)
	start := time.Now()
	if err := rollout.Wait(ctx, c, waited, options, req.Log); err != nil {
		return err
	}
	req.Log.Successf("Ready after %s", time.Since(start).Round(10*time.Millisecond))
	return nil
}

// waiting bounds a wait for what was applied. In a rollback the pods of the failed deployment that hold it up are
// deleted.
func (e *Executor) waiting(ctx context.Context, req *Request, c *cluster.Client, s *Source,
	applied []apply.Applied) (rollout.Options, error) {
	options := e.readiness.options(s, applied)
	if !isRollback(req) {
		return options, nil
	}
	since, err := began(ctx, req)
	if err != nil {
		return options, err
	}
	options.Discard = &rollout.Discard{Since: since,
		Delete: func(ctx context.Context, pod *unstructured.Unstructured) error {
			uid := pod.GetUID()
			err := c.Dynamic.Resource(rollout.PodResource).Namespace(pod.GetNamespace()).Delete(ctx, pod.GetName(),
				metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}})
			if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
				return nil
			}
			return err
		}}
	return options, nil
}

// readiness decides what stages wait for, and how; its rules are nil for none.
type readiness struct{ rules *health.Rules }

// isWaited reports whether a stage waits for an object: also for one that a rule judges.
func (r readiness) isWaited(o *unstructured.Unstructured) bool {
	return rollout.IsWaited(o) || r.rules.Judges(o.GroupVersionKind().GroupKind())
}

// hasHealth reports whether the next wave waits for an object.
func (r readiness) hasHealth(o *unstructured.Unstructured) bool {
	return r.isWaited(o) || rollout.HasHealth(o)
}

// options bound a wait for what was applied.
func (r readiness) options(s *Source, applied []apply.Applied) rollout.Options {
	return rollout.Options{Timeout: rolloutTimeout(s, applied), Grace: s.App.Input.FailureGrace.Std(), Rules: r.rules}
}

// deadlines are the fields by which a manifest itself allows its rollout, or its run, to take longer.
var deadlines = []string{"progressDeadlineSeconds", "activeDeadlineSeconds"}

// rolloutTimeout is the configured one, or more when a manifest allows itself more.
func rolloutTimeout(s *Source, applied []apply.Applied) time.Duration {
	timeout := s.App.Input.RolloutTimeout.Std()
	for _, a := range applied {
		for _, field := range deadlines {
			seconds, found, err := unstructured.NestedInt64(a.Manifest.Object, "spec", field)
			if err == nil && found && seconds < maxDeadlineSeconds {
				timeout = max(timeout, time.Duration(seconds)*time.Second+progressMargin)
			}
		}
	}
	return timeout
}

const (
	// progressMargin lets the controller itself report that a progress deadline has passed.
	progressMargin = 10 * time.Second
	// maxDeadlineSeconds is a day; a manifest with more says "no deadline".
	maxDeadlineSeconds = 24 * 60 * 60
)
