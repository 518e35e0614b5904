// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
)

// LoadPrimary loads a source as a finished deployment of it leaves it in the cluster, but for the stamp.
func (l *Loader) LoadPrimary(ctx context.Context, targets []Target, s *Source, how Loading) (*Loaded, error) {
	loaded, err := l.LoadAs(ctx, targets, s, how)
	if err != nil {
		return nil, err
	}
	options, err := selectorOptions(s)
	if err != nil {
		return nil, err
	}
	loaded.Manifests, err = variant.Primary(loaded.Manifests, &s.App, options)
	return loaded, err
}
