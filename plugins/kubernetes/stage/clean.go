// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// clean removes every resource of a variant, once the variant gets no traffic.
func (e *Executor) clean(ctx context.Context, req *Request, variant string) error {
	h, err := e.targetHooks(ctx, req)
	if err != nil {
		return err
	}
	client, err := e.connect(ctx, req)
	if err != nil {
		return err
	}
	return h.around(ctx, client, func() error {
		needed, err := takeTraffic(ctx, e, req, client, variant)
		if err != nil {
			return err
		}
		return e.cleanVariant(ctx, req, client, req.Target, variant, needed...)
	})
}

// cleanVariant removes what a variant has, but for the objects that are needed for the traffic of others.
func (e *Executor) cleanVariant(ctx context.Context, req *Request, c *cluster.Client, s *Source, variant string,
	needed ...manifest.Key) error {
	items, err := find(ctx, req, c, s, labels.Set{s.App.VariantLabel.Key: variant})
	if err != nil {
		return err
	}
	if items = inventory.Except(items, needed); len(items) == 0 {
		req.Log.Infof("There are no resources of the %s variant", variant)
		return nil
	}
	deleted, err := e.delete(ctx, req, c, items)
	if err != nil {
		return err
	}
	req.Log.Successf("Removed the %s variant: %s deleted%s", variant, plural(deleted.Gone, "resource"),
		stillTerminating(deleted))
	return nil
}

type pruneOptions struct {
	enabled bool
	// onlyPrimary leaves the other variants alone.
	onlyPrimary bool
	// keep are resources of Git that were not applied.
	keep []manifest.Key
}

// prune deletes the application's resources that are not in Git any more.
func (e *Executor) prune(ctx context.Context, req *Request, c *cluster.Client, s *Source, applied []apply.Applied,
	o pruneOptions) error {
	if !o.enabled {
		return nil
	}
	more := labels.Set{}
	if o.onlyPrimary {
		more[s.App.VariantLabel.Key] = s.App.VariantLabel.PrimaryValue
	}
	wanted := append(liveKeys(applied), o.keep...)
	items, err := find(ctx, req, c, s, more, wanted...)
	if err != nil {
		return err
	}
	were, err := e.lookUp(ctx, req, c, req.Running, func(i inventory.Item) bool {
		return !o.onlyPrimary || i.Meta.Annotations[s.App.VariantLabel.Key] == s.App.VariantLabel.PrimaryValue
	})
	if err != nil {
		return err
	}
	unwanted := inventory.ExceptSame(inventory.Except(inventory.Union(were, items), wanted), liveUIDs(applied))
	if len(unwanted) == 0 {
		req.Log.Info("Nothing to prune: every resource of the application is in Git")
		return nil
	}
	unwanted, err = amongStaying(unwanted, func(staying []inventory.Item) ([]inventory.Item, error) {
		return notElsewhere(ctx, e, req, c, s, staying)
	})
	if err != nil || len(unwanted) == 0 {
		return err
	}
	deleted, err := e.delete(ctx, req, c, unwanted)
	if err != nil {
		return err
	}
	forgetCommit(ctx, req, c, unwanted)
	req.Log.Success(prunedText(deleted))
	return nil
}

// amongStaying leaves out what a rule keeps. What is Terminating already goes along, because no one can have it.
func amongStaying(items []inventory.Item, rule func([]inventory.Item) ([]inventory.Item, error)) ([]inventory.Item,
	error) {
	staying := inventory.Staying(items)
	leaving := inventory.Except(items, keysOf(staying))
	unwanted, err := rule(staying)
	return append(leaving, unwanted...), err
}

// notElsewhere leaves out what Git has in another place, or may have, and says so: in the application itself at the
// head of the branch, and in other applications at the commit that is deployed or at the head. The commit may have
// waited for its approval, and one of them may have got an object since.
func notElsewhere(ctx context.Context, e *Executor, req *Request, c *cluster.Client, s *Source,
	items []inventory.Item) ([]inventory.Item, error) {
	head, err := headNow(ctx, req, s)
	if err != nil {
		return nil, err
	}
	items, err = ownHead{e, req, c, head, s}.except(ctx, items)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	claims, err := claimsAt(ctx, e.loader, req, c, s, items)
	if err != nil {
		return nil, err
	}
	if head != s {
		now, err := claimsAt(ctx, e.loader, req, c, head, items)
		if err != nil {
			return nil, err
		}
		claims = withHead(claims, now, s.CommitHash)
	}
	own, held, err := handOver(ctx, req, c, s, claims, items)
	sayHeld(req, held)
	return own, err
}

// withHead adds the claims at the head of the branch to those at an older commit, of which it says what is not true any
// more.
func withHead(older, head map[manifest.Key]Claim, commit string) map[manifest.Key]Claim {
	all := map[manifest.Key]Claim{}
	for key, claim := range older {
		claim.Former = short(commit)
		all[key] = claim
	}
	maps.Copy(all, head)
	return all
}

// forgetCommit takes the mark of the commit off what pruning keeps by its annotation: the next deployment of that
// commit may not have the object, as an upgrade does not have what a chart renders for its installation alone. It never
// fails the stage.
func forgetCommit(ctx context.Context, req *Request, c *cluster.Client, pruned []inventory.Item) {
	for _, item := range pruned {
		if manifest.Exclusion(&item.Meta) == "" {
			continue
		}
		if err := inventory.ForgetCommit(ctx, c, item); err != nil {
			req.Log.Infof("- %s: still has the mark of the commit that applied it: %v", item.Key.Human(), err)
		}
	}
}

// delete deletes resources but for those that must be kept, which it names. The checks come immediately before.
func (e *Executor) delete(ctx context.Context, req *Request, c *cluster.Client, items []inventory.Item,
	checks ...func(context.Context, *Request) error) (inventory.Deleted, error) {
	deletable, kept, err := inventory.Deletable(ctx, c, items)
	if err != nil {
		return inventory.Deleted{}, err
	}
	for _, check := range checks {
		if err := check(ctx, req); err != nil {
			return inventory.Deleted{}, err
		}
	}
	for _, k := range kept {
		req.Log.Infof("- %s: kept, %s", k.Key.Human(), k.Reason)
	}
	return inventory.Delete(ctx, c, deletable, req.Log)
}

// prunedText is what became of resources that are not in Git any more. Those that are kept are named by then.
func prunedText(deleted inventory.Deleted) string {
	is := func(n int) string {
		if n == 1 {
			return "is"
		}
		return "are"
	}
	switch gone, waits := deleted.Gone, deleted.Terminating; {
	case gone > 0:
		return fmt.Sprintf("Pruned %s that %s not in Git any more%s", plural(gone, "resource"), is(gone),
			stillTerminating(deleted))
	case waits > 0:
		return fmt.Sprintf("%s that %s not in Git any more %s still Terminating", plural(waits, "resource"), is(waits),
			is(waits))
	}
	return "Nothing was pruned: what is not in Git any more is kept"
}

// stillTerminating is the end of a sentence about what was deleted.
func stillTerminating(deleted inventory.Deleted) string {
	switch deleted.Terminating {
	case 0:
		return ""
	case 1:
		return "; 1 is still Terminating"
	}
	return fmt.Sprintf("; %d are still Terminating", deleted.Terminating)
}

// find lists the application's resources that also have the given labels, with what the deployment has deleted and
// something holds. The keys say in which namespaces to look for kinds that may not be listed in all.
func find(ctx context.Context, req *Request, c *cluster.Client, s *Source, more labels.Set,
	known ...manifest.Key) ([]inventory.Item, error) {
	selector := labels.Merge(inventory.Labels(req.Deployment.Application.ID), more)
	items, err := findIn(req, c, s, known, func(namespaces []string) ([]inventory.Item, []inventory.Skipped, error) {
		return inventory.ListAll(ctx, c, selector, namespaces)
	})
	if err != nil {
		return nil, err
	}
	return ownLeaving(ctx, req, items)
}

// findIn is find by a list of one's own, which gets the namespaces.
func findIn(req *Request, c *cluster.Client, s *Source, known []manifest.Key,
	list func(namespaces []string) ([]inventory.Item, []inventory.Skipped, error)) ([]inventory.Item, error) {
	namespaces := []string{cmp.Or(s.App.Input.Namespace, c.Namespace)}
	for _, key := range known {
		if key.Namespace != "" && !slices.Contains(namespaces, key.Namespace) {
			namespaces = append(namespaces, key.Namespace)
		}
	}
	items, skipped, err := list(namespaces)
	if len(skipped) > 0 {
		req.Log.Infof("These kinds could not be looked at, and objects of them that Git does not name are left "+
			"alone: %s", inventory.Words(skipped))
	}
	return elsewhereOut(items, s), err
}

// lookUp returns what the primary of a commit has in the cluster, whatever its labels are now. Git is the inventory:
// without that commit, or when its manifests cannot be loaded any more, labels have to do.
func (e *Executor) lookUp(ctx context.Context, req *Request, c *cluster.Client, s *Source,
	wanted func(inventory.Item) bool) ([]inventory.Item, error) {
	if s == nil || s.CommitHash == "" {
		return nil, nil
	}
	loaded, err := e.loader.LoadPrimary(ctx, req.Targets, s, e.rendering(req, nil))
	if err != nil {
		req.Log.Infof("The manifests of commit %s cannot be loaded, so that only what has the application's "+
			"labels is found: %v", short(s.CommitHash), err)
		return nil, nil
	}
	items, err := inventory.LookupAll(ctx, c, req.Deployment.Application.ID, loaded.Manifests)
	if err == nil {
		items, err = ownLeaving(ctx, req, items)
	}
	return elsewhereOut(slices.DeleteFunc(items, func(i inventory.Item) bool { return !wanted(i) }), s), err
}

// elsewhereOut leaves out what was applied for another deploy target in the same cluster.
func elsewhereOut(items []inventory.Item, s *Source) []inventory.Item {
	return slices.DeleteFunc(items, func(i inventory.Item) bool {
		return manifest.IsElsewhere(i.Meta.Annotations,
			s.App.DeployTarget())
	})
}

func liveUIDs(applied []apply.Applied) []types.UID {
	uids := make([]types.UID, len(applied))
	for i, a := range applied {
		uids[i] = a.Live.GetUID()
	}
	return uids
}

func liveKeys(applied []apply.Applied) []manifest.Key {
	keys := make([]manifest.Key, len(applied))
	for i, a := range applied {
		keys[i] = manifest.KeyOf(a.Live)
	}
	return keys
}
