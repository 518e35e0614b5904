// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// takeOver says which of the manifests' objects belong to other applications, before they are applied.
func (r *run) takeOver(ctx context.Context, manifests []manifest.Manifest) error {
	others := r.before.others(manifests, r.client.Namespace)
	if len(others) == 0 || r.TakesOver == nil {
		return nil
	}
	return r.TakesOver(ctx, others)
}

// found says that an object was there which no application had, as far as was seen. A hook is never one of others.
func (r *run) found(ctx context.Context, a Applied, how string) error {
	_, known := r.before.byUID[a.Live.GetUID()]
	if known || how == created || how == recreated || r.TakesOver == nil || runsAgain(a.Manifest) ||
		a.Live.GetCreationTimestamp().Time.Before(r.Since) {
		return nil
	}
	return r.TakesOver(ctx, map[types.UID]manifest.Marks{a.Live.GetUID(): {}})
}

// writeNoted is write that says what was there.
func (r *run) writeNoted(ctx context.Context, api dynamic.ResourceInterface, m manifest.Manifest) (Applied, string,
	error) {
	applied, how, err := r.write(ctx, api, m)
	if err == nil {
		err = r.found(ctx, applied, how)
	}
	return applied, how, err
}
