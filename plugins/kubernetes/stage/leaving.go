// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"
	"slices"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
)

// ownLeaving leaves out what was Terminating before the deployment began. An earlier attempt of a stage may have
// deleted the rest of what is Terminating: a stage that was interrupted waits for that again, and names who holds it.
func ownLeaving(ctx context.Context, req *Request, items []inventory.Item) ([]inventory.Item, error) {
	if !slices.ContainsFunc(items, inventory.IsLeaving) {
		return items, nil
	}
	since, err := began(ctx, req)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(items, func(i inventory.Item) bool {
		return inventory.IsLeaving(i) && i.Meta.DeletionTimestamp.Time.Before(since)
	}), nil
}
