// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Watchable is a resource that can be listed and watched; every dynamic.ResourceInterface is.
type Watchable interface {
	List(ctx context.Context, opts metav1.ListOptions) (*unstructured.UnstructuredList, error)
	Watch(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error)
}

// Named selects one object by its name.
func Named(name string) metav1.ListOptions {
	return metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", name).String()}
}

// Follow calls handle with all objects that opts select: as they are at first, then after every change of one of them.
// It ends when handle is done or fails, when ctx ends, or when the API refuses. A connection that breaks is made again.
func Follow(ctx context.Context, r Watchable, opts metav1.ListOptions,
	handle func([]*unstructured.Unstructured) (done bool, err error)) error {
	pauses := Pauses(firstPause, longestPause)
	for {
		done, err := followOnce(ctx, r, opts, handle)
		switch {
		case done:
			return err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil, apierrors.IsResourceExpired(err), apierrors.IsGone(err):
			pauses = Pauses(firstPause, longestPause)
		case !Retryable(err) && !isLostWatch(err):
			return err
		}
		if err := Wait(ctx, pauses); err != nil {
			return err
		}
	}
}

// followOnce lists and watches until the watch ends. done means that Follow has to return err.
func followOnce(ctx context.Context, r Watchable, opts metav1.ListOptions,
	handle func([]*unstructured.Unstructured) (bool, error)) (done bool, err error) {
	list, err := r.List(ctx, opts)
	if err != nil {
		return false, err
	}
	objects := map[types.UID]*unstructured.Unstructured{}
	for i := range list.Items {
		objects[list.Items[i].GetUID()] = &list.Items[i]
	}
	if done, err := handle(sorted(objects)); done || err != nil {
		return true, err
	}
	opts.ResourceVersion = list.GetResourceVersion()
	opts.AllowWatchBookmarks = true
	w, err := r.Watch(ctx, opts)
	if err != nil {
		return false, err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		switch {
		case event.Type == watch.Error:
			return false, watchError{apierrors.FromObject(event.Object)}
		case event.Type == watch.Bookmark:
			continue
		case !ok:
			return true, fmt.Errorf("watch: unexpected %T", event.Object)
		case event.Type == watch.Deleted:
			delete(objects, object.GetUID())
		default:
			objects[object.GetUID()] = object
		}
		if done, err := handle(sorted(objects)); done || err != nil {
			return true, err
		}
	}
	return false, nil
}

// watchError is an error that a watch has sent.
type watchError struct{ error }

func (e watchError) Unwrap() error { return e.error }

// isLostWatch reports whether a server could not go on with a watch: its store has lost the revision of a change, for
// one. The objects are listed again then.
func isLostWatch(err error) bool {
	var sent watchError
	return errors.As(err, &sent) && apierrors.IsInternalError(sent.error)
}

func sorted(objects map[types.UID]*unstructured.Unstructured) []*unstructured.Unstructured {
	return slices.SortedFunc(maps.Values(objects), func(a, b *unstructured.Unstructured) int {
		return cmp.Compare(a.GetName(), b.GetName())
	})
}

// Retryable reports whether the same request may succeed when it is sent again soon.
func Retryable(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true // no answer at all: refused, reset, timed out
	}
	return apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsUnexpectedServerError(err) || isTransientInternal(err)
}
