// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

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
// v1: the same order). It goes on after an error and returns all of them; one that is gone already is fine. It does not
// wait for finalizers.
func Delete(ctx context.Context, c *cluster.Client, items []Item, log Log) (deleted int, err error) {
	ordered := slices.Clone(items)
	slices.SortStableFunc(ordered, func(a, b Item) int { return cmp.Compare(deletionRank(a.Key), deletionRank(b.Key)) })
	var errs []error
	for _, item := range ordered {
		if err := ctx.Err(); err != nil {
			return deleted, context.Cause(ctx)
		}
		policy := metav1.DeletePropagationBackground
		uid := item.Meta.UID
		err := c.Metadata.Resource(item.Resource).Namespace(item.Key.Namespace).Delete(ctx, item.Key.Name, metav1.DeleteOptions{
			PropagationPolicy: &policy,
			Preconditions:     &metav1.Preconditions{UID: &uid}, // not another one of the same name
		})
		switch {
		case err == nil:
			deleted++
			log.Successf("- %s: deleted", item.Key.Human())
		case apierrors.IsNotFound(err), apierrors.IsConflict(err):
			log.Infof("- %s: was already gone", item.Key.Human())
		default:
			log.Errorf("- %s: cannot be deleted: %v", item.Key.Human(), err)
			errs = append(errs, fmt.Errorf("delete %s: %w", item.Key.Human(), err))
		}
	}
	return deleted, errors.Join(errs...)
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
