// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"fmt"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
)

// baseline adds a small copy of what the running commit has next to the primary, for a canary to be compared with.
func (e *Executor) baseline(ctx context.Context, req *Request) error {
	o, err := config.DecodeBaseline(req.Options)
	if err != nil {
		return err
	}
	s := req.Running
	if s == nil || s.CommitHash == "" {
		return fmt.Errorf("%s copies what runs now, and the application has never been deployed successfully: "+
			"deploy it once by a quick sync (planner.alwaysUsePipeline: false), then use this pipeline",
			config.StageBaselineRollout)
	}
	loaded, err := e.load(ctx, req, s)
	if err != nil {
		return err
	}
	label := req.Target.App.VariantLabel
	manifests, err := variant.Baseline(loaded, &s.App, label, o)
	if err != nil {
		return err
	}
	h, err := e.targetHooks(ctx, req)
	if err != nil {
		return err
	}
	req.Log.Infof("The baseline variant has %s: %s", plural(len(manifests), "manifest"), countKinds(manifests))
	if err := e.provideImages(ctx, req, s, manifests); err != nil {
		return err
	}
	client, err := e.connect(ctx, req)
	if err != nil {
		return err
	}
	return h.around(ctx, client, func() error {
		applied, err := e.apply(ctx, req, client, variantOf{s, label, label.BaselineValue}, manifests)
		if err != nil {
			return err
		}
		return e.wait(ctx, req, client, req.Target, applied)
	})
}
