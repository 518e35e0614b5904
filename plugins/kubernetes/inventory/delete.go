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

// Deleted counts what became of items.
type Deleted struct {
	// Gone are not in the cluster any more; Terminating are still held after the wait.
	Gone, Terminating int
}

// Delete deletes the items with their dependents: Ingresses, Services, workloads, the rest, and last what has no
// namespace (PipeCD v1: the same order without Ingresses); those of one rank side by side. It goes on after an error
// and returns all of them; an item that is gone already is fine. An item is reported as deleted when it is gone. Delete
// waits for those that finalizers or running pods hold, also when they were Terminating before, at most [GoneTimeout]
// for all of them and half of the time that ctx leaves, and then leaves them to the cluster.
func Delete(ctx context.Context, c *cluster.Client, items []Item, log Log) (done Deleted, err error) {
	ordered := slices.Clone(items)
	slices.SortStableFunc(ordered, func(a, b Item) int { return cmp.Compare(deletionRank(a.Key), deletionRank(b.Key)) })
	var failed []error
	var leaving []Item
	for len(ordered) > 0 {
		if ctx.Err() != nil {
			return done, context.Cause(ctx)
		}
		n := slices.IndexFunc(ordered, func(i Item) bool { return deletionRank(i.Key) != deletionRank(ordered[0].Key) })
		if n < 0 {
			n = len(ordered)
		}
		for i, result := range deleteAll(ctx, c, ordered[:n]) {
			name := ordered[i].Key.Human()
			switch err := result.err; {
			case err == nil && result.gone:
				done.Gone++
				log.Successf("- %s: deleted", name)
			case result.kept != "":
				log.Infof("- %s: kept, %s", name, result.kept)
			case err == nil:
				leaving = append(leaving, ordered[i])
			case apierrors.IsNotFound(err):
				log.Infof("- %s: was already gone", name)
			case ctx.Err() != nil:
				return done, context.Cause(ctx)
			default:
				log.Errorf("- %s: cannot be deleted: %v", name, err)
				failed = append(failed, fmt.Errorf("delete %s: %w", name, err))
			}
		}
		ordered = ordered[n:]
	}
	gone, err := awaitGone(ctx, c, leaving, log)
	done.Gone += gone
	done.Terminating = len(leaving) - gone
	if err != nil {
		return done, err
	}
	return done, errors.Join(failed...)
}

// deletion is the result for one item.
type deletion struct {
	// gone is set when the object was not there right after the request.
	gone bool
	// kept is why the object must stay after all; empty when it need not.
	kept string
	err  error
}

// deleteAll deletes side by side and returns a result for each item.
func deleteAll(ctx context.Context, c *cluster.Client, items []Item) []deletion {
	results := make([]deletion, len(items))
	var group errgroup.Group
	group.SetLimit(parallelLists)
	for i, item := range items {
		group.Go(func() error {
			results[i] = deleteOne(ctx, c, item)
			return nil
		})
	}
	_ = group.Wait() // the errors are collected
	return results
}

// maxCrossed bounds how often an object is looked at again because someone has written it between the look and the
// request.
const maxCrossed = 10

// deleteOne deletes the object as it was seen. One that was written since is looked at again: another application may
// have taken it over, and it is then kept.
func deleteOne(ctx context.Context, c *cluster.Client, item Item) (result deletion) {
	if IsLeaving(item) {
		return deletion{gone: isGone(ctx, c, item)}
	}
	objects := c.Metadata.Resource(item.Resource).Namespace(item.Key.Namespace)
	policy := metav1.DeletePropagationBackground
	seen := item.Meta
	for range maxCrossed {
		// Neither another object of the same name, nor another state of this one.
		as := metav1.Preconditions{UID: &seen.UID}
		if seen.ResourceVersion != "" {
			as.ResourceVersion = &seen.ResourceVersion
		}
		result.err = cluster.DefaultRetry.Do(ctx, cluster.Retryable, func() error {
			return objects.Delete(ctx, item.Key.Name,
				metav1.DeleteOptions{PropagationPolicy: &policy, Preconditions: &as})
		})
		if !apierrors.IsConflict(result.err) {
			result.gone = result.err == nil && isGone(ctx, c, item)
			return result
		}
		live, err := objects.Get(ctx, item.Key.Name, metav1.GetOptions{})
		switch {
		case err != nil:
			return deletion{err: err}
		case live.UID != seen.UID:
			return deletion{err: apierrors.NewNotFound(item.Resource.GroupResource(), item.Key.Name)}
		case !isOfSame(live, &item.Meta):
			return deletion{kept: "another application has taken it over meanwhile"}
		}
		if kept := manifest.Exclusion(&live.ObjectMeta); kept != "" {
			return deletion{kept: kept}
		}
		seen = live.ObjectMeta
	}
	return result
}

// isOfSame reports whether two states of an object belong to the same application.
func isOfSame(a, b metav1.Object) bool {
	return a.GetLabels()[manifest.LabelApplication] == b.GetLabels()[manifest.LabelApplication] &&
		a.GetAnnotations()[manifest.LabelApplication] == b.GetAnnotations()[manifest.LabelApplication]
}

func deletionRank(k manifest.Key) int {
	switch {
	case k.Namespace == "":
		return 3
	case k.Kind == manifest.KindIngress, k.Kind == manifest.KindTraefikService: // they lead to the Services
		return -1
	case k.Group == "" && k.Kind == manifest.KindService:
		return 0
	case k.Group == "apps" || k.Group == "batch" || k.Kind == "Pod":
		return 1
	}
	return 2
}
