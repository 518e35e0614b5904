// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package existing

import (
	"context"
	"strings"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

// LoadImage implements cluster.Provider. A cluster that the user made by kind takes images.
func (p *Provider) LoadImage(ctx context.Context, image cluster.Image) error {
	name, ok := strings.CutPrefix(p.context.Name, "kind-")
	if !ok || p.load == nil {
		return cluster.ErrNoImages
	}
	return p.load(ctx, name, image.Archive, image.References)
}
