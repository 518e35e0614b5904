// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kind

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	kindcluster "sigs.k8s.io/kind/pkg/cluster"

	"github.com/pipedeck/pipedeck/devenv/cluster"
)

// LoadInto loads the images of an archive, under references, into the nodes of a cluster that the
// user made by kind on this machine. cluster.ErrNoImages when there is none of that name.
func LoadInto(ctx context.Context, name, archive string, references []string) error {
	found, err := findEngine(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", cluster.ErrNoImages, err)
	}
	targets, err := kindcluster.NewProvider(found.option()).ListInternalNodes(name)
	if err != nil {
		return fmt.Errorf("list the nodes of the cluster %s: %w", name, err)
	}
	if len(targets) == 0 {
		return cluster.ErrNoImages
	}
	p := &Provider{name: name}
	group, ctx := errgroup.WithContext(ctx)
	for _, node := range targets {
		group.Go(func() error { return p.loadOnNode(ctx, node, archive, references) })
	}
	return group.Wait()
}
