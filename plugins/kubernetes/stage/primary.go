// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"context"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/variant"
)

// LoadPrimary loads a source as a finished deployment of it leaves it in the cluster, but for the stamp.
func (l *Loader) LoadPrimary(ctx context.Context, targets []Target, s *Source) ([]manifest.Manifest, error) {
	loaded, err := l.Load(ctx, targets, s)
	if err != nil {
		return nil, err
	}
	options, err := selectorOptions(s)
	if err != nil {
		return nil, err
	}
	return variant.Primary(loaded, &s.App, options)
}
