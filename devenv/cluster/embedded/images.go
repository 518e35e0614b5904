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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/pipedeck/pipedeck/devenv/cluster"
	"github.com/pipedeck/pipedeck/devenv/cluster/nodes"
)

const (
	// nodeLabel is on the one node of the cluster.
	nodeLabel = "pipedeck.dev/simulated=true"
	// maxImages bounds the node's list; what came first goes first.
	maxImages = 500
)

// LoadImage implements cluster.Provider. No container runs, so the node has to know the names and, if images run as
// processes, the program: it takes pods with them from now on. It waits for the node, which comes shortly after the
// API. The archive may be empty.
func (p *Provider) LoadImage(ctx context.Context, image cluster.Image) error {
	described, err := describeImage(image.Archive, image.References)
	if err != nil {
		return err
	}
	if p.programs != nil && image.Program != "" {
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
func (p *Provider) announce(ctx context.Context, image nodes.Image) error {
	client, err := nodes.Connect(p.kubeconfig)
	if err != nil {
		return fmt.Errorf("reach the embedded Kubernetes: %w", err)
	}
	return changeImages(ctx, client, func(images []nodes.Image) []nodes.Image {
		return addImage(images, image)
	})
}

// changeImages changes the list of the node, which may just be registering.
func changeImages(ctx context.Context, client *nodes.Client, change changeFunc) error {
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
type changeFunc func([]nodes.Image) []nodes.Image

// tryChangeImages changes the list of the node. False when the API server has ended the watch before that, as it does
// from time to time.
func tryChangeImages(ctx context.Context, client *nodes.Client, change changeFunc) (done bool, err error) {
	// Without a version a watch begins with what is there.
	watcher, err := client.Watch(ctx, metav1.ListOptions{LabelSelector: nodeLabel})
	if err != nil {
		return false, err
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		node, ok := nodes.From(event.Object)
		if !ok || event.Type == watch.Deleted || !isReady(node) {
			continue
		}
		err := client.SetImages(ctx, node, change(node.Status.Images))
		// A conflict means that the node has changed since; that event is on its way.
		if !apierrors.IsConflict(err) {
			return err == nil, err
		}
	}
	return false, nil
}

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
	client, err := nodes.Connect(p.kubeconfig)
	if err != nil {
		return err
	}
	used, err := client.PodImages(ctx)
	if err != nil {
		return fmt.Errorf("list the images of pods: %w", err)
	}
	gone, err := p.programs.prune(used)
	if err != nil || len(gone) == 0 {
		return err
	}
	return changeImages(ctx, client, func(images []nodes.Image) []nodes.Image {
		return removeNames(images, gone)
	})
}

// isReady reports whether the node has registered and takes pods.
func isReady(node *nodes.Node) bool {
	ready, said := node.Ready()
	return said && ready.Status == nodes.StatusTrue
}

func describeImage(archive string, references []string) (nodes.Image, error) {
	image := nodes.Image{Names: references}
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
func addImage(images []nodes.Image, added nodes.Image) []nodes.Image {
	kept := append(removeNames(images, added.Names), added)
	return kept[max(0, len(kept)-maxImages):]
}

// removeNames returns the images that have other names, with these.
func removeNames(images []nodes.Image, names []string) (kept []nodes.Image) {
	for _, image := range images {
		image.Names = slices.DeleteFunc(slices.Clone(image.Names),
			func(name string) bool { return slices.Contains(names, name) })
		if len(image.Names) > 0 {
			kept = append(kept, image)
		}
	}
	return kept
}
