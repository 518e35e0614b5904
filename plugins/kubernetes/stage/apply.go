// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
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
		PipedID:       req.Deployment.GetPipedId(),
		ApplicationID: req.Deployment.GetApplicationId(),
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
	applier := apply.New(c, req.Log)
	if !isStage(req, config.StageRollback) {
		if err := noteBegan(ctx, req, c); err != nil {
			return nil, err
		}
	}
	since, err := began(ctx, req)
	if err != nil {
		return nil, err
	}
	applier.Began = since
	if isStage(req, config.StageRollback) {
		applier.Restore = &apply.Restoration{CommitHash: req.Target.CommitHash, Began: since}
	}
	if in := v.source.App.Input; in.AutoCreateNamespace && in.Namespace != "" {
		if err := applier.EnsureNamespace(ctx, in.Namespace); err != nil {
			return nil, err
		}
	}
	req.Log.Infof("Applying %s to %s", plural(len(manifests), "manifest"), c.Server)
	applied, err := applier.Apply(ctx, manifests)
	if err != nil {
		if len(applied) > 0 {
			req.Log.Infof("%d of %s were applied before the error", len(applied), plural(len(manifests), "manifest"))
		}
		return applied, err
	}
	return applied, nil
}

// wait waits until what was applied is ready, unless the application does not want that.
func (e *Executor) wait(ctx context.Context, req *Request, c *cluster.Client, s *Source,
	applied []apply.Applied) error {
	var workloads []rollout.Workload
	for _, a := range applied {
		if rollout.IsWaited(a.Live) {
			workloads = append(workloads, rollout.Workload{Live: a.Live, Resource: a.Resource})
		}
	}
	switch {
	case len(workloads) == 0:
		return nil
	case !s.App.Input.WaitsReady():
		req.Log.Infof("Not waiting for %s to be ready (input.waitReady: false)", plural(len(workloads), "workload"))
		return nil
	}
	options := rollout.Options{Timeout: rolloutTimeout(s, applied), Grace: s.App.Input.FailureGrace.Std()}
	req.Log.Infof("Waiting for %s to be ready, at most %s", plural(len(workloads), "workload"), options.Timeout)
	start := time.Now()
	if err := rollout.Wait(ctx, c, workloads, options, req.Log); err != nil {
		return err
	}
	req.Log.Successf("Ready after %s", time.Since(start).Round(10*time.Millisecond))
	return nil
}

// rolloutTimeout is the configured one, or more when a manifest itself allows its rollout to make progress for longer.
func rolloutTimeout(s *Source, applied []apply.Applied) time.Duration {
	timeout := s.App.Input.RolloutTimeout.Std()
	for _, a := range applied {
		seconds, found, err := unstructured.NestedInt64(a.Manifest.Object, "spec", "progressDeadlineSeconds")
		if deadline := time.Duration(seconds) * time.Second; err == nil && found && seconds < maxDeadlineSeconds {
			timeout = max(timeout, deadline+progressMargin)
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
