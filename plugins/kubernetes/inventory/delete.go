// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// Log takes the lines that a user reads.
type Log interface {
	Infof(format string, args ...any)
	Successf(format string, args ...any)
	Errorf(format string, args ...any)
}

// Delete deletes the items with their dependants: Services, workloads, the rest, and last what has no namespace (PipeCD
// v1: the same order); those of one rank side by side. It goes on after an error and returns all of them; one that is gone
// already is fine. It does not wait for finalizers.
func Delete(ctx context.Context, c *cluster.Client, items []Item, log Log) (deleted int, err error) {
	ordered := slices.Clone(items)
	slices.SortStableFunc(ordered, func(a, b Item) int { return cmp.Compare(deletionRank(a.Key), deletionRank(b.Key)) })
	var failed []error
	for len(ordered) > 0 {
		if ctx.Err() != nil {
			return deleted, context.Cause(ctx)
		}
		n := slices.IndexFunc(ordered, func(i Item) bool { return deletionRank(i.Key) != deletionRank(ordered[0].Key) })
		if n < 0 {
			n = len(ordered)
		}
		for i, err := range deleteAll(ctx, c, ordered[:n]) {
			name := ordered[i].Key.Human()
			switch {
			case err == nil:
				deleted++
				log.Successf("- %s: deleted", name)
			case apierrors.IsNotFound(err), apierrors.IsConflict(err):
				log.Infof("- %s: was already gone", name)
			case ctx.Err() != nil:
				return deleted, context.Cause(ctx)
			default:
				log.Errorf("- %s: cannot be deleted: %v", name, err)
				failed = append(failed, fmt.Errorf("delete %s: %w", name, err))
			}
		}
		ordered = ordered[n:]
	}
	return deleted, errors.Join(failed...)
}

// deleteAll deletes side by side and gives an error, or nil, for each.
func deleteAll(ctx context.Context, c *cluster.Client, items []Item) []error {
	errs := make([]error, len(items))
	var group errgroup.Group
	group.SetLimit(parallelLists)
	for i, item := range items {
		group.Go(func() error {
			policy := metav1.DeletePropagationBackground
			uid := item.Meta.UID
			errs[i] = c.Metadata.Resource(item.Resource).Namespace(item.Key.Namespace).Delete(ctx, item.Key.Name, metav1.DeleteOptions{
				PropagationPolicy: &policy,
				Preconditions:     &metav1.Preconditions{UID: &uid}, // not another one of the same name
			})
			return nil
		})
	}
	_ = group.Wait() // the errors are collected
	return errs
}

func deletionRank(k manifest.Key) int {
	switch {
	case k.Namespace == "":
		return 3
	case k.Group == "" && k.Kind == manifest.KindService:
		return 0
	case k.Group == "apps" || k.Group == "batch" || k.Kind == "Pod":
		return 1
	}
	return 2
}
