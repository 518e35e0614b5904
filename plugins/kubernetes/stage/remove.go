// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// remove deletes everything that the application has deployed, all variants of it, but for what must be kept. What has
// gone already is fine, so that it may be executed again.
func (e *Executor) remove(ctx context.Context, req *Request) error {
	client, err := e.connect(ctx, req)
	if err != nil {
		return err
	}
	were, err := e.lookUp(ctx, req, client, req.Target, func(inventory.Item) bool { return true })
	if err != nil {
		return err
	}
	labelled, err := e.find(ctx, req, client, req.Target, labels.Set{}, keysOf(were)...)
	if err != nil {
		return err
	}
	all := inventory.Union(were, labelled)
	if err := removeRecords(ctx, req, client); err != nil {
		return err
	}
	if len(all) == 0 {
		req.Log.Infof("Nothing to delete: the application has no resources in %s", client.Server)
		return nil
	}
	req.Log.Infof("Deleting %s from %s", plural(len(all), "resource"), client.Server)
	deleted, err := e.delete(ctx, req, client, all)
	if err != nil {
		return err
	}
	req.Log.Successf("Removed the application: %s deleted%s", plural(deleted.Gone, "resource"),
		stillTerminating(deleted))
	return nil
}

func keysOf(items []inventory.Item) []manifest.Key {
	keys := make([]manifest.Key, len(items))
	for i, item := range items {
		keys[i] = item.Key
	}
	return keys
}
