// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/status"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/cluster"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

const (
	// establishTimeout bounds the wait for an API that a new CustomResourceDefinition makes.
	establishTimeout = time.Minute
	// goneTimeout bounds the wait for an object that is deleted to make place; a finalizer may hold it.
	goneTimeout = 2 * time.Minute

	// settleTimeout bounds how long the API may hold an object against the definition as it was before, and how long an
	// API that has just started may not know a kind.
	settleTimeout = 5 * time.Second

	firstServedPause   = 10 * time.Millisecond
	longestServedPause = 500 * time.Millisecond
)

// awaitServing waits until the APIs of the definitions among what was applied are served.
func (r *run) awaitServing(ctx context.Context, applied []Applied) error {
	waits, ctx := errgroup.WithContext(ctx)
	waits.SetLimit(parallelRequests)
	for _, one := range applied {
		if one.Manifest.Is(manifest.KindCRD) {
			group, _, _ := unstructured.NestedString(one.Live.Object, "spec", "group")
			if r.before.how(one, appliedOnly) != unchanged {
				r.fresh[group] = true
			}
			waits.Go(func() error { return r.awaitEstablished(ctx, one) })
		}
	}
	return waits.Wait()
}

// applySettled applies a manifest. Right after its definition has changed the API may still hold it against the old
// one, or not serve it yet; and an API that has just started serves the kinds of definitions later than its own. Then
// it is tried again for a while, since nothing reports when that is over.
func (r *run) applySettled(ctx context.Context, m manifest.Manifest) (Applied, string, error) {
	begun, pauses := time.Now(), cluster.Pauses(firstServedPause, longestServedPause)
	for {
		applied, how, err := r.applyOne(ctx, m)
		refused, ok := errors.AsType[*RefusedError](err)
		if !ok || time.Since(begun) > settleTimeout {
			return applied, how, err
		}
		switch group := m.GroupVersionKind().Group; {
		case r.fresh[group] && refused.unsettled:
		case strings.Contains(group, ".") && meta.IsNoMatchError(refused.Err) && r.client.JustStarted():
			r.client.Mapper.Reset()
		default:
			return applied, how, err
		}
		if cluster.Wait(ctx, pauses) != nil {
			return applied, how, err
		}
	}
}

// awaitEstablished waits until the API of a CustomResourceDefinition is served, and forgets what was known of the API.
func (a *Applier) awaitEstablished(ctx context.Context, crd Applied) error {
	ctx, cancel := context.WithTimeoutCause(ctx, establishTimeout,
		fmt.Errorf("not established within %s", establishTimeout))
	defer cancel()
	err := cluster.Follow(ctx, crd.Resource, cluster.Named(crd.Live.GetName()),
		func(objects []*unstructured.Unstructured) (bool, error) {
			for _, o := range objects {
				result, err := status.Compute(o)
				if err != nil {
					return false, err
				}
				switch result.Status {
				case status.CurrentStatus:
					return true, nil
				case status.FailedStatus:
					return false, fmt.Errorf("the API refused it: %s", result.Message)
				}
			}
			return false, nil
		})
	if err == nil {
		err = a.awaitServed(ctx, crd)
	}
	if err != nil {
		return fmt.Errorf("wait for the API of %s: %w", crd.key().Human(), err)
	}
	return nil
}

// awaitServed waits until the API reports that it serves the kind: that comes a moment after "established", without an
// event.
func (a *Applier) awaitServed(ctx context.Context, crd Applied) error {
	group, _, _ := unstructured.NestedString(crd.Live.Object, "spec", "group")
	kind, _, _ := unstructured.NestedString(crd.Live.Object, "spec", "names", "kind")
	versions := servedVersions(crd.Live)
	pauses := cluster.Pauses(firstServedPause, longestServedPause)
	for {
		_, err := a.client.Mapper.RESTMapping(schema.GroupKind{Group: group, Kind: kind}, versions...)
		if err == nil || !meta.IsNoMatchError(err) && !cluster.Retryable(err) {
			return err
		}
		a.client.Mapper.Reset()
		if err := cluster.Wait(ctx, pauses); err != nil {
			return err
		}
	}
}

// awaitGone waits until the object with this UID is no more.
func (a *Applier) awaitGone(ctx context.Context, r dynamic.ResourceInterface, m manifest.Manifest,
	uid types.UID) error {
	holding := "; what holds it?"
	waiting, cancel := context.WithTimeout(ctx, goneTimeout)
	defer cancel()
	err := cluster.Follow(waiting, r, cluster.Named(m.GetName()),
		func(objects []*unstructured.Unstructured) (bool, error) {
			for _, o := range objects {
				if o.GetUID() == uid {
					holding = heldBy(o)
					return false, nil
				}
			}
			return true, nil
		})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case waiting.Err() != nil:
		return fmt.Errorf("%s is still being deleted after %s%s: fix what holds it, then deploy again", m.Key().Human(),
			goneTimeout, holding)
	case err != nil:
		return fmt.Errorf("wait until %s is deleted: %w", m.Key().Human(), err)
	}
	return nil
}

// servedVersions are the versions of a definition that the API is to serve.
func servedVersions(crd *unstructured.Unstructured) []string {
	var versions []string
	list, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range list {
		version, _ := v.(map[string]any)
		if name, ok := version["name"].(string); ok && version["served"] == true {
			versions = append(versions, name)
		}
	}
	return versions
}
