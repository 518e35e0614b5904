// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package none

import (
	"context"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

// Provider provides nothing.
type Provider struct{}

var _ cluster.Provider = Provider{}

// Describe implements cluster.Provider.
func (Provider) Describe() cluster.Description { return cluster.Description{Kind: cluster.None} }

// Run is ready at once and waits for ctx.
func (Provider) Run(ctx context.Context, _ cluster.Progress, ready func(string)) error {
	ready("no cluster, as asked")
	<-ctx.Done()
	return nil
}

// LoadImage implements cluster.Provider: there is no node.
func (Provider) LoadImage(context.Context, cluster.Image) error { return cluster.ErrNoImages }

// Delete has nothing to remove.
func (Provider) Delete(context.Context) error { return nil }
