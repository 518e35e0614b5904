// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"fmt"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
)

// remove deletes everything that the application has deployed, all variants of it, but for what must be kept, and runs
// the hooks around that. What has gone already is fine, so that it may be executed again.
func (e *Executor) remove(ctx context.Context, req *Request) error {
	head := req.Running // as sdk.Remover has it
	own := *req
	own.Running, req = nil, &own
	if req.Target.App.IsLeft() {
		return removeLeft(ctx, e, req, head)
	}
	client, err := e.connect(ctx, req)
	if err != nil {
		return err
	}
	r, err := newRemoval(ctx, e, req, client, head)
	if err != nil {
		return err
	}
	if err := r.carryOut(ctx); err != nil {
		return err
	}
	r.sayUnseen()
	return nil
}

// carryOut deletes what there is.
func (r *removal) carryOut(ctx context.Context) error {
	req := r.req
	all, after, err := r.begin(ctx)
	if err != nil {
		return err
	}
	if err := checkGone(ctx, req); err != nil {
		return err
	}
	if err := removeRecords(ctx, req, r.client); err != nil {
		return err
	}
	after = after && len(r.held) == 0
	if len(all) == 0 && !after && len(r.held) == 0 {
		req.Log.Infof("Nothing to delete: the application has no resources in %s", r.client.Server)
		return nil
	}
	deleted, err := r.deleteFirst(ctx, all)
	if err != nil {
		return err
	}
	if len(r.held) > 0 {
		return leftBehind(req, r.held)
	}
	if after {
		if err := r.run(ctx, phase.After); err != nil {
			return err
		}
	}
	last, err := r.deleteLast(ctx, all)
	if err != nil {
		return err
	}
	deleted.Gone += last.Gone
	deleted.Terminating += last.Terminating
	req.Log.Successf("Removed the application: %s deleted%s", plural(deleted.Gone, "resource"),
		stillTerminating(deleted))
	if after {
		return r.putBegun(ctx, false)
	}
	return nil
}

// leftBehind is the error of a removal that has left objects, because applications that cannot be loaded may have them.
// They would belong to no application if the removal succeeded.
func leftBehind(req *Request, held []heldItem) error {
	name := req.Deployment.Application.Name
	for _, h := range held {
		req.Log.Infof("- %s: left, %s", h.Key.Human(), h.Reason())
	}
	return fmt.Errorf("%s left, because applications that cannot be loaded may have them in Git now: %s\nnext step: "+
		"correct or delete those in Git, then run: pipedeck remove %s --cascade; or leave what still runs: pipedeck "+
		"remove %s --orphan", plural(len(held), "resource"), culprits(held), name, name)
}

// removed is the error of a removal with what a user does next.
func removed(req *Request, format string, args ...any) error {
	name := req.Deployment.Application.Name
	return fmt.Errorf("%w\nnext step: find the reason in the log above, then run: pipedeck remove %s --cascade; or "+
		"leave what still runs: pipedeck remove %s --orphan", fmt.Errorf(format, args...), name, name)
}

func keysOf(items []inventory.Item) []manifest.Key {
	keys := make([]manifest.Key, len(items))
	for i, item := range items {
		keys[i] = item.Key
	}
	return keys
}
