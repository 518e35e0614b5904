// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/kubeapi"
)

const (
	// nodeLabel is on the one node of the cluster.
	nodeLabel = "pipedeck.dev/simulated=true"
	// maxImages bounds the node's list; what came first goes first.
	maxImages = 500
)

// LoadImage implements cluster.Provider. No container runs, so the node has to know the names and, if images run as
// processes, the program: it takes pods with them from now on. It waits for the node, which comes shortly after the
// API. The archive may be empty; without a program, where images run as processes, cluster.ErrNeedsArchive is returned:
// pods of the image would be simulated next to others that answer.
func (p *Provider) LoadImage(ctx context.Context, image cluster.Image) error {
	if p.programs != nil && image.Program == "" {
		return cluster.ErrNeedsArchive
	}
	described, err := describeImage(image.Archive, image.References)
	if err != nil {
		return err
	}
	if p.programs != nil {
		// Before the node knows the names: a pod that sees them looks for the program.
		if err := p.programs.add(image.Program, image.References); err != nil {
			return fmt.Errorf("keep the program of %s: %w", image.References[0], err)
		}
	}
	if err := p.announce(ctx, described); err != nil {
		return err
	}
	if p.programs != nil {
		p.prune(ctx)
	}
	return nil
}

var _ cluster.ImageKeeper = (*Provider)(nil)

// HasImage implements cluster.ImageKeeper: programs that no pod names are removed when there are many.
func (p *Provider) HasImage(references []string) bool {
	return p.programs == nil || p.programs.has(references)
}

// announce adds an image to the list of the node.
func (p *Provider) announce(ctx context.Context, image nodeImage) error {
	client, err := kubeapi.Connect(p.kubeconfig)
	if err != nil {
		return fmt.Errorf("reach the embedded Kubernetes: %w", err)
	}
	return changeImages(ctx, client, func(images []nodeImage) []nodeImage {
		return addImage(images, image)
	})
}

// changeImages changes the list of the node, which may just be registering.
func changeImages(ctx context.Context, client *kubeapi.Client, change changeFunc) error {
	for {
		done, err := tryChangeImages(ctx, client, change)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("make images known to the embedded Kubernetes: %w", err)
		case done:
			return nil
		}
	}
}

// changeFunc returns what becomes of the images of the node.
type changeFunc func([]nodeImage) []nodeImage

// prune removes programs that no pod names, when there are many, and takes their names from the node. What fails is
// tried again with the next image.
func (p *Provider) prune(ctx context.Context) {
	if !p.programs.full() {
		return
	}
	if err := p.tryPrune(ctx); err != nil && ctx.Err() == nil {
		p.logger.Warn("old programs of images were not removed", "error", err)
	}
}

func (p *Provider) tryPrune(ctx context.Context) error {
	client, err := kubeapi.Connect(p.kubeconfig)
	if err != nil {
		return err
	}
	used, err := podImages(ctx, client)
	if err != nil {
		return fmt.Errorf("list the images of pods: %w", err)
	}
	gone, err := p.programs.prune(used)
	if err != nil || len(gone) == 0 {
		return err
	}
	return changeImages(ctx, client, func(images []nodeImage) []nodeImage {
		return removeNames(images, gone)
	})
}

func describeImage(archive string, references []string) (nodeImage, error) {
	image := nodeImage{Names: references}
	if archive == "" {
		return image, nil
	}
	info, err := os.Stat(archive)
	if err != nil {
		return image, fmt.Errorf("load an image: %w", err)
	}
	if !info.Mode().IsRegular() {
		return image, fmt.Errorf("load an image: %w",
			&fs.PathError{Op: "read", Path: archive, Err: errors.New("it is no file")})
	}
	image.SizeBytes = info.Size()
	return image, nil
}

// addImage puts an image last. A name that another image has moves to this one.
func addImage(images []nodeImage, added nodeImage) []nodeImage {
	kept := append(removeNames(images, added.Names), added)
	return kept[max(0, len(kept)-maxImages):]
}

// removeNames returns the images that have other names, with these.
func removeNames(images []nodeImage, names []string) (kept []nodeImage) {
	for _, image := range images {
		image.Names = slices.DeleteFunc(slices.Clone(image.Names),
			func(name string) bool { return slices.Contains(names, name) })
		if len(image.Names) > 0 {
			kept = append(kept, image)
		}
	}
	return kept
}
