// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"cmp"
	"context"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
)

// sync applies every manifest as the primary variant.
func (e *Executor) sync(ctx context.Context, req *Request) error {
	o, err := config.DecodeSync(req.Options, &req.Target.App)
	if err != nil {
		return err
	}
	return e.rollOutPrimary(ctx, req, config.PrimaryOptions{AddVariantLabelToSelector: o.AddVariantLabelToSelector},
		pruneOptions{enabled: o.Prune})
}

// primary applies every manifest as the primary variant, after a canary.
func (e *Executor) primary(ctx context.Context, req *Request) error {
	o, err := config.DecodePrimary(req.Options)
	if err != nil {
		return err
	}
	return e.rollOutPrimary(ctx, req, o, pruneOptions{enabled: o.Prune, onlyPrimary: true})
}

func (e *Executor) rollOutPrimary(ctx context.Context, req *Request, o config.PrimaryOptions, p pruneOptions) error {
	s := req.Target
	loaded, err := e.loadRelease(ctx, req, s)
	if err != nil {
		return err
	}
	all, err := variant.Primary(loaded.Manifests, &s.App, o)
	if err != nil {
		return err
	}
	h, err := e.hooksOf(req, all)
	if err != nil {
		return err
	}
	manifests := h.plan.At(phase.Sync)
	for _, m := range h.plan.All() {
		p.keep = append(p.keep, m.Key())
	}
	h.sayIdle()
	if p.onlyPrimary {
		var left []manifest.Key
		if manifests, left, err = e.keepRouting(ctx, req, manifests); err != nil {
			return err
		}
		p.keep = append(p.keep, left...)
	}
	if err := e.provideImages(ctx, req, s, manifests); err != nil {
		return err
	}
	client, err := e.connect(ctx, req)
	if err != nil {
		return err
	}
	for i := range p.keep {
		p.keep[i].Namespace = cmp.Or(p.keep[i].Namespace, client.Namespace)
	}
	err = h.around(ctx, client, func() error {
		applied, err := h.sync(ctx, manifests)
		if err != nil {
			return err
		}
		// What is not wanted any more goes only when its successor is ready.
		return e.prune(ctx, req, client, s, applied, p)
	})
	recordRelease(ctx, req, client, outcome{source: s, loaded: loaded, did: "Deployed", failed: err})
	return err
}

// canary adds a small copy of the workloads next to the primary.
func (e *Executor) canary(ctx context.Context, req *Request) error {
	o, err := config.DecodeCanary(req.Options)
	if err != nil {
		return err
	}
	s := req.Target
	loaded, err := e.load(ctx, req, s)
	if err != nil {
		return err
	}
	if err := CheckRoutes(loaded, s, e.pool.Namespace(req.Targets[0].Config)); err != nil {
		return err
	}
	h, err := e.hooksOf(req, loaded)
	if err != nil {
		return err
	}
	manifests, err := variant.Canary(loaded, &s.App, o)
	if err != nil {
		return err
	}
	req.Log.Infof("The canary variant has %s: %s", plural(len(manifests), "manifest"), countKinds(manifests))
	if err := e.provideImages(ctx, req, s, manifests); err != nil {
		return err
	}
	client, err := e.connect(ctx, req)
	if err != nil {
		return err
	}
	return h.around(ctx, client, func() error {
		applied, err := e.apply(ctx, req, client, canaryOf(s), manifests)
		if err != nil {
			return err
		}
		return e.wait(ctx, req, client, s, applied)
	})
}
