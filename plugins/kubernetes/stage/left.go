// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"cmp"
	"context"
	"time"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// leftLook bounds the look at a deploy target that an application is not deployed to any more: it may be gone for good,
// and nothing else of a stage needs it.
const leftLook = 10 * time.Second

// LeftAt returns a source as it is at a deploy target that its application is not deployed to any more; nil for
// nil.
func LeftAt(s *Source, target Target) *Source {
	if s == nil {
		return nil
	}
	at := *s
	at.App = *s.App.LeftAt(target.Name)
	return &at
}

// Left returns what an application still has, by its labels, at the deploy target of the request. What is Terminating
// counts, since something may hold it. An error is that of a cluster that does not answer within 10 s, too, and of one
// where nothing is found and a kind does not answer.
func Left(ctx context.Context, e *Executor, req *Request) ([]manifest.Key, error) {
	ctx, cancel := context.WithTimeout(ctx, leftLook)
	defer cancel()
	client, err := e.connect(ctx, req)
	if err != nil {
		return nil, err
	}
	namespaces := []string{cmp.Or(req.Target.App.Input.Namespace, client.Namespace)}
	items, skipped, err := inventory.ListAll(ctx, client, inventory.Labels(req.Deployment.Application.ID), namespaces)
	if err != nil {
		return nil, err
	}
	if items = elsewhereOut(items, req.Target); len(items) == 0 {
		return nil, unanswered(skipped)
	}
	return keysOf(items), nil
}

// removeLeft deletes what an application has at a deploy target that it is not deployed to any more. What it had in Git
// for that target is not known, so no hooks run.
func removeLeft(ctx context.Context, e *Executor, req *Request, head *Source) error {
	client, err := e.connect(ctx, req)
	if err != nil {
		return err
	}
	r := &removal{hooks: &hooks{Executor: e, req: req, client: client, source: req.Target}, head: head}
	all, err := r.resources(ctx)
	if err != nil {
		return err
	}
	if err := checkGone(ctx, req); err != nil {
		return err
	}
	if err := removeRecords(ctx, req, client); err != nil {
		return err
	}
	req.Log.Infof("The application is not deployed here any more: deleting what it has left, without hooks")
	deleted, err := e.delete(ctx, req, client, all, checkGone)
	if err != nil {
		return err
	}
	if len(r.held) > 0 {
		return leftBehind(req, r.held)
	}
	req.Log.Successf("Removed what the application had left: %s deleted%s", plural(deleted.Gone, "resource"),
		stillTerminating(deleted))
	r.sayUnseen()
	return nil
}
