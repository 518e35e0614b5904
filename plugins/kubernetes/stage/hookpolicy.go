// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/phase"
)

// collects reports whether the policy of a hook wants it deleted.
type collects func(m manifest.Manifest, p phase.Policy) bool

// succeeded is for a moment whose hooks have all succeeded.
func succeeded(_ manifest.Manifest, p phase.Policy) bool { return p.Succeeded }

// outcomeOf is for a moment that ended with an error, which names the hooks that failed. done are those that succeeded.
func outcomeOf(err error, done hookNote, defaultNamespace string) collects {
	failed := failedKeys(err)
	return func(m manifest.Manifest, p phase.Policy) bool {
		key := m.Key()
		key.Namespace = cmp.Or(key.Namespace, defaultNamespace)
		return p.Failed && failed[key] || p.Succeeded && done.has(m)
	}
}

// collect deletes the hooks of this run whose policy says so.
func (h *hooks) collect(ctx context.Context, list []manifest.Manifest, wanted collects) error {
	var gone []manifest.Manifest
	for _, m := range list {
		if p, err := phase.Of(m); err == nil && manifest.IsHook(m) && wanted(m, p.Policy) {
			gone = append(gone, m)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	items, err := inventory.Lookup(ctx, h.client, h.req.Deployment.Application.ID, gone)
	if err != nil {
		return err
	}
	run := h.req.Deployment.ID + "/"
	items = slices.DeleteFunc(items, func(i inventory.Item) bool { // one that another deployment has begun since
		return !strings.HasPrefix(i.Meta.Annotations[manifest.AnnotationHookRun], run)
	})
	if len(items) == 0 {
		return nil
	}
	h.req.Log.Infof("Deleting %s, as their delete policy says", plural(len(items), "hook"))
	if _, err := h.delete(ctx, h.req, h.client, items); err != nil {
		return fmt.Errorf("delete hooks as their policy says: %w", err)
	}
	return nil
}
