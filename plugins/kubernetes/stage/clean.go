// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/apply"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// clean removes every resource of a variant.
func (e *Executor) clean(ctx context.Context, req *Request, variant string) error {
	client, err := e.connect(ctx, req)
	if err != nil {
		return err
	}
	return e.cleanVariant(ctx, req, client, req.Target, variant)
}

func (e *Executor) cleanVariant(ctx context.Context, req *Request, c *cluster.Client, s *Source, variant string) error {
	items, err := e.find(ctx, req, c, s, labels.Set{s.App.VariantLabel.Key: variant})
	if err != nil {
		return err
	}
	if len(items) == 0 {
		req.Log.Infof("There are no resources of the %s variant", variant)
		return nil
	}
	deleted, err := inventory.Delete(ctx, c, items, req.Log)
	if err != nil {
		return err
	}
	req.Log.Successf("Removed the %s variant: %s deleted", variant, plural(deleted, "resource"))
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
func (e *Executor) prune(ctx context.Context, req *Request, c *cluster.Client, s *Source, applied []apply.Applied, o pruneOptions) error {
	if !o.enabled {
		return nil
	}
	more := labels.Set{}
	if o.onlyPrimary {
		more[s.App.VariantLabel.Key] = s.App.VariantLabel.PrimaryValue
	}
	items, err := e.find(ctx, req, c, s, more)
	if err != nil {
		return err
	}
	unwanted := inventory.Except(items, append(liveKeys(applied), o.keep...))
	if len(unwanted) == 0 {
		req.Log.Info("Nothing to prune: every resource of the application is in Git")
		return nil
	}
	deleted, err := inventory.Delete(ctx, c, unwanted, req.Log)
	if err != nil {
		return err
	}
	req.Log.Successf("Pruned %s that are not in Git any more", plural(deleted, "resource"))
	return nil
}

// find lists the application's resources that also have the given labels.
func (e *Executor) find(ctx context.Context, req *Request, c *cluster.Client, s *Source, more labels.Set) ([]inventory.Item, error) {
	selector := labels.Merge(inventory.Labels(req.Deployment.GetApplicationId()), more)
	namespaces := []string{c.Namespace}
	if s.App.Input.Namespace != "" {
		namespaces = []string{s.App.Input.Namespace}
	}
	items, skipped, err := inventory.List(ctx, c, selector, namespaces)
	if len(skipped) > 0 {
		req.Log.Infof("These kinds could not be looked at and are left alone: %s", strings.Join(skipped, ", "))
	}
	return slices.DeleteFunc(items, func(i inventory.Item) bool { return manifest.IsElsewhere(i.Meta.Annotations, s.App.DeployTarget()) }), err
}

func liveKeys(applied []apply.Applied) []manifest.Key {
	keys := make([]manifest.Key, len(applied))
	for i, a := range applied {
		keys[i] = manifest.KeyOf(a.Live)
	}
	return keys
}
