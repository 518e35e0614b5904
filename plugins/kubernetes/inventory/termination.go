// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inventory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
)

// IsLeaving reports whether an item is Terminating: someone has deleted it, and something holds it.
func IsLeaving(i Item) bool { return i.Meta.DeletionTimestamp != nil }

// Staying returns the items that are not Terminating.
func Staying(items []Item) []Item { return slices.DeleteFunc(slices.Clone(items), IsLeaving) }

// GoneTimeout bounds the wait for what finalizers, or pods that end, hold.
const GoneTimeout = time.Minute

// maxWatches bounds the items that are watched at once; further ones wait for their turn.
const maxWatches = 100

// awaitGone waits until the items are gone and returns how many are. Who holds one of them is written once, and again
// at the end of the wait.
func awaitGone(ctx context.Context, c *cluster.Client, items []Item, log Log) (gone int, err error) {
	bound := GoneTimeout
	if deadline, limited := ctx.Deadline(); limited { // what still leaves must not fail a stage that has done its work
		bound = min(bound, time.Until(deadline)/2)
	}
	begun := time.Now()
	waiting, cancel := context.WithTimeout(ctx, bound)
	defer cancel()
	ends := make([]leaving, len(items))
	var group errgroup.Group
	group.SetLimit(maxWatches)
	for i, item := range items {
		group.Go(func() error {
			ends[i] = leave(waiting, c, item, log)
			return nil
		})
	}
	_ = group.Wait() // the errors are in ends
	for i, end := range ends {
		name := items[i].Key.Human()
		switch {
		case end.gone:
			gone++
		case ctx.Err() != nil:
			return gone, context.Cause(ctx)
		case waiting.Err() == nil:
			return gone, fmt.Errorf("wait until %s is deleted: %w", name, end.err)
		case end.last == nil && isGone(ctx, c, items[i]): // its turn never came
			gone++
			log.Successf("- %s: deleted", name)
		default:
			log.Infof("- %s: still Terminating after %s%s; not waited for any longer", name,
				time.Since(begun).Round(time.Second), heldBy(end.last))
		}
	}
	return gone, nil
}

func isGone(ctx context.Context, c *cluster.Client, item Item) bool {
	o, err := c.Metadata.Resource(item.Resource).Namespace(item.Key.Namespace).Get(ctx, item.Key.Name,
		metav1.GetOptions{})
	return apierrors.IsNotFound(err) || err == nil && o.UID != item.Meta.UID
}

// leaving is how the wait for one item ended.
type leaving struct {
	gone bool
	// last is the object as it was seen last; nil when it was not.
	last *unstructured.Unstructured
	err  error
}

func leave(ctx context.Context, c *cluster.Client, item Item, log Log) (l leaving) {
	objects := c.Resource(item.Resource, item.Key.Namespace)
	l.err = cluster.Follow(ctx, objects, cluster.Named(item.Key.Name),
		func(found []*unstructured.Unstructured) (bool, error) {
			for _, o := range found {
				if o.GetUID() == item.Meta.UID {
					if l.last == nil {
						log.Infof("- %s: Terminating%s", item.Key.Human(), heldBy(o))
					}
					l.last = o
					return false, nil
				}
			}
			l.gone = true
			log.Successf("- %s: deleted", item.Key.Human())
			return true, nil
		})
	return l
}

func heldBy(o *unstructured.Unstructured) string {
	if o == nil || cluster.HeldBy(o) == "" {
		return ""
	}
	return ", " + cluster.HeldBy(o)
}
