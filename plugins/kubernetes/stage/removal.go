// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// removal is the removal of an application from a deploy target, with the hooks around it.
type removal struct {
	*hooks
	// deployed are the manifests of the commit that was deployed last.
	deployed []manifest.Manifest
	// head is the repository at the head of the branch; nil when it is not known.
	head *Source
	// held are what resources left out last, because applications that cannot be loaded may have them.
	held []heldItem
	// unseen are the kinds that resources could not look at last, and that may have objects.
	unseen []inventory.Skipped
}

// removalPlan is what a deployment remembers of a removal, so that another attempt goes on when the manifests cannot be
// loaded any more: a chart may look up what has been deleted.
type removalPlan struct {
	// Before and After are the numbers of hooks before and after the deletion.
	Before int `json:"before"`
	After  int `json:"after"`
}

// newRemoval takes the hooks from the commit that was deployed last. A commit that cannot be loaded might have had some
// that save data, so nothing is deleted then.
func newRemoval(ctx context.Context, e *Executor, req *Request, c *cluster.Client, head *Source) (*removal, error) {
	s := req.Target
	r := &removal{hooks: &hooks{Executor: e, req: req, client: c, source: s}, head: head}
	key := sdk.DeploymentKey[removalPlan](r.noteKey())
	loaded, err := e.loader.LoadPrimary(ctx, req.Targets, s, e.rendering(req, nil))
	if err != nil {
		return r, r.withoutHooks(ctx, key, err)
	}
	r.deployed = loaded.Manifests
	if r.plan, err = phase.Arrange(loaded.Manifests, phase.Removal); err != nil {
		return nil, err
	}
	return r, key.Put(ctx, req.Client, removalPlan{
		Before: len(r.plan.At(phase.Before)), After: len(r.plan.At(phase.After)),
	})
}

// withoutHooks returns an error unless the removal can go on without the manifests, which cannot be loaded because of
// the cause: no hook is left to run.
func (r *removal) withoutHooks(ctx context.Context, key sdk.DeploymentKey[removalPlan], cause error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	needless, err := r.needsNoHook(ctx, key)
	commit := short(r.source.CommitHash)
	switch {
	case err != nil:
		return err
	case !needless:
		return removed(r.req, "the manifests of commit %s, which was deployed last, cannot be loaded, so its hooks "+
			"for a deletion are not known and nothing more was deleted: %w", commit, cause)
	}
	r.req.Log.Infof("The manifests of commit %s cannot be loaded, so that only what has the application's labels is "+
		"found: %v", commit, cause)
	return nil
}

// needsNoHook reports whether no hook is left to run: an earlier attempt knew them, or there is nothing to delete.
func (r *removal) needsNoHook(ctx context.Context, key sdk.DeploymentKey[removalPlan]) (bool, error) {
	noted, found, err := key.Get(ctx, r.req.Client)
	switch {
	case err != nil:
		return false, err
	case found && noted.After > 0:
		return false, nil
	case found && noted.Before > 0:
		before, err := r.recall(ctx, phase.Before)
		return before.Finished, err
	case found:
		return true, nil
	}
	if _, left, err := r.left(ctx); err != nil || left+len(r.held) > 0 {
		return false, err
	}
	begun, err := r.begun(ctx)
	return !begun, err
}

func (r *removal) noteKey() string {
	if target := r.source.App.DeployTarget(); target != "" {
		return "removal/" + target
	}
	return "removal"
}

// resources are everything that the application has in the cluster, whatever its labels are now, but for the hooks
// after the deletion that an earlier attempt has begun. What an earlier attempt has deleted and something holds is
// among them.
func (r *removal) resources(ctx context.Context) ([]inventory.Item, error) {
	were, err := inventory.LookupAll(ctx, r.client, r.req.Deployment.Application.ID, r.deployed)
	if err != nil {
		return nil, removed(r.req, "find out what is there of commit %s, so nothing more was deleted: %w",
			short(r.source.CommitHash), err)
	}
	were = elsewhereOut(were, r.source)
	own := inventory.Labels(r.req.Deployment.Application.ID)
	labelled, err := findIn(r.req, r.client, r.source, keysOf(were),
		func(namespaces []string) ([]inventory.Item, []inventory.Skipped, error) {
			items, skipped, err := inventory.ListAll(ctx, r.client, own, namespaces)
			r.unseen = slices.DeleteFunc(slices.Clone(skipped), func(s inventory.Skipped) bool { return !s.Unseen })
			return items, skipped, err
		})
	if err != nil {
		return nil, err
	}
	if err := r.checkSeen(); err != nil {
		return nil, err
	}
	run := r.req.Deployment.ID + "/" + r.runID(phase.After)
	return r.unclaimed(ctx, slices.DeleteFunc(inventory.Union(were, labelled), func(i inventory.Item) bool {
		return i.Meta.Annotations[manifest.AnnotationHookRun] == run
	}))
}

// unclaimed leaves out what other applications have in Git at the head, or may have. One may wait for an approval, or
// may have failed and given the object back. No one can have what is Terminating.
func (r *removal) unclaimed(ctx context.Context, items []inventory.Item) ([]inventory.Item, error) {
	if r.head == nil {
		return items, nil
	}
	own := *r.req
	own.Running = r.source
	leaving := inventory.Except(items, keysOf(inventory.Staying(items)))
	items, held, err := r.Executor.unclaimed(ctx, &own, r.client, r.head, r.source, inventory.Staying(items))
	if err != nil {
		return nil, removed(r.req, "find out what other applications have in Git at commit %s, so nothing more was "+
			"deleted: %w", short(r.head.CommitHash), err)
	}
	var unapplied []heldItem
	if r.held, unapplied = divide(held); len(unapplied) > 0 {
		err = r.release(ctx, unapplied)
	}
	return append(items, leaving...), err
}

// release leaves what other applications name and do not apply: after the removal it belongs to no application.
func (r *removal) release(ctx context.Context, unapplied []heldItem) error {
	for _, h := range unapplied {
		if err := inventory.Release(ctx, r.client, h.Item, r.source.App.VariantLabel.Key); err != nil {
			return err
		}
		r.req.Log.Infof("- %s: kept, %s; it belongs to no application any more", h.Key.Human(), h.Reason())
	}
	r.req.Log.Infof("next step: change the manifests of %s so that a deployment applies it, or delete it by hand",
		culprits(unapplied))
	return nil
}

// lookAgain looks for the head of the branch as it is now: another application may have got an object since.
func (r *removal) lookAgain(ctx context.Context) (err error) {
	if r.head, err = headNow(ctx, r.req, r.head); err != nil {
		return removed(r.req, "find out what other applications have in Git now, so nothing more was deleted: %w", err)
	}
	return nil
}

// left returns what is there, and how much of it is still to be deleted and no hook.
func (r *removal) left(ctx context.Context) (all []inventory.Item, n int, err error) {
	if all, err = r.resources(ctx); err != nil {
		return nil, 0, err
	}
	own := slices.DeleteFunc(inventory.Staying(all), func(i inventory.Item) bool { return manifest.IsHook(&i.Meta) })
	deletable, _, err := inventory.Deletable(ctx, r.client, own)
	return all, len(deletable), err
}

// begin runs the hooks before the deletion, if there is anything to delete, and reports whether those after it are due:
// also when an earlier removal has deleted everything and could not run them. It returns what is there then.
func (r *removal) begin(ctx context.Context) (all []inventory.Item, after bool, err error) {
	all, left, err := r.left(ctx)
	if err != nil {
		return nil, false, err
	}
	before, has := len(r.plan.At(phase.Before)), len(r.plan.At(phase.After)) > 0
	if left == 0 {
		if before > 0 && len(r.held) == 0 {
			err = r.sayNotRun(ctx, before)
		}
		if err == nil && has {
			after, err = r.begun(ctx)
		}
		return all, after, err
	}
	if before > 0 {
		if err := r.run(ctx, phase.Before); err != nil {
			return nil, false, err
		}
		if err := r.lookAgain(ctx); err != nil { // the hooks may have taken long
			return nil, false, err
		}
		if all, err = r.resources(ctx); err != nil {
			return nil, false, err
		}
	}
	if has {
		err = r.putBegun(ctx, true)
	}
	return all, has, err
}

// sayNotRun says that the hooks before a deletion do not run, unless an earlier attempt has run them.
func (r *removal) sayNotRun(ctx context.Context, n int) error {
	done, err := r.recall(ctx, phase.Before)
	if err == nil && !done.Finished {
		r.req.Log.Infof("Not run, because there is nothing to delete any more: %s", r.words(n, phase.Before))
	}
	return err
}

// deleteFirst deletes everything but what the hooks after the deletion need.
func (r *removal) deleteFirst(ctx context.Context, all []inventory.Item) (inventory.Deleted, error) {
	first, _ := r.split(all)
	if len(first) == 0 {
		return inventory.Deleted{}, nil
	}
	r.req.Log.Infof("Deleting %s from %s", plural(len(first), "resource"), r.client.Server)
	return r.delete(ctx, r.req, r.client, first, checkGone)
}

// deleteLast deletes the hooks after the deletion, because no later deployment would, and what they needed.
func (r *removal) deleteLast(ctx context.Context, all []inventory.Item) (inventory.Deleted, error) {
	if len(r.plan.At(phase.After)) == 0 {
		return inventory.Deleted{}, nil
	}
	_, needed := r.split(all)
	ran, err := inventory.LookupAll(ctx, r.client, r.req.Deployment.Application.ID, r.plan.At(phase.After))
	if err != nil {
		return inventory.Deleted{}, err
	}
	last := inventory.Union(elsewhereOut(ran, r.source), needed)
	if len(last) == 0 {
		return inventory.Deleted{}, nil
	}
	r.req.Log.Infof("Deleting %s after the hooks", plural(len(last), "resource"))
	return r.delete(ctx, r.req, r.client, last)
}

// split separates the namespaces and the kinds of the hooks after the deletion from everything else.
func (r *removal) split(all []inventory.Item) (first, last []inventory.Item) {
	needs := map[manifest.Key]bool{}
	for _, m := range r.plan.Needed(phase.After) {
		needs[m.Key().Fold()] = true
	}
	for _, i := range all {
		if needs[i.Key.Fold()] {
			last = append(last, i)
		} else {
			first = append(first, i)
		}
	}
	return first, last
}

// removalNote is what the plugin remembers of an application across deployments: a removal that fails is asked for
// again in another one.
type removalNote struct {
	// Begun is set from the first deletion until the hooks after it have succeeded.
	Begun bool `json:"begun"`
}

func (r *removal) begun(ctx context.Context) (bool, error) {
	data, found, err := r.req.Client.SharedObject(ctx, r.req.Deployment.Application.ID, r.noteKey())
	if err != nil || !found {
		return false, err
	}
	var note removalNote
	if err := json.Unmarshal(data, &note); err != nil {
		return false, fmt.Errorf("read what was noted of an earlier removal: %w", err)
	}
	return note.Begun, nil
}

func (r *removal) putBegun(ctx context.Context, begun bool) error {
	data, err := json.Marshal(removalNote{Begun: begun})
	if err != nil {
		return err
	}
	return r.req.Client.PutSharedObject(ctx, r.req.Deployment.Application.ID, r.noteKey(), data)
}
