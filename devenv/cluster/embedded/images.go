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

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/pipedeck/pipedeck/devenv/cluster/nodes"
)

const (
	// nodeLabel is on the one node of the cluster.
	nodeLabel = "pipedeck.dev/simulated=true"
	// maxImages bounds the node's list; what came first goes first.
	maxImages = 500
)

// LoadImage implements cluster.Provider. No container runs, so the node only has to know the names:
// it takes pods with them from now on. It waits for the node, which comes shortly after the API.
// archive may be empty.
func (p *Provider) LoadImage(ctx context.Context, archive string, references []string) error {
	image, err := describeImage(archive, references)
	if err != nil {
		return err
	}
	client, err := nodes.Connect(p.kubeconfig)
	if err != nil {
		return fmt.Errorf("reach the embedded Kubernetes: %w", err)
	}
	for {
		done, err := tryAddImage(ctx, client, image)
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

// nodeClient is what of nodes.Client is used here.
type nodeClient interface {
	Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error)
	UpdateStatus(ctx context.Context, node *corev1.Node) error
}

// tryAddImage adds an image to the node, which may just be registering. False when the API server
// has ended the watch before that, as it does from time to time.
func tryAddImage(ctx context.Context, client nodeClient, image corev1.ContainerImage) (done bool, err error) {
	// Without a version a watch begins with what is there.
	watcher, err := client.Watch(ctx, metav1.ListOptions{LabelSelector: nodeLabel})
	if err != nil {
		return false, err
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		node, ok := event.Object.(*corev1.Node)
		if !ok || event.Type == watch.Deleted || !isReady(node) {
			continue
		}
		node.Status.Images = addImage(node.Status.Images, image)
		err := client.UpdateStatus(ctx, node)
		// A conflict means that the node has changed since; that event is on its way.
		if !apierrors.IsConflict(err) {
			return err == nil, err
		}
	}
	return false, nil
}

// isReady reports whether the node has registered and takes pods.
func isReady(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	})
}

func describeImage(archive string, references []string) (corev1.ContainerImage, error) {
	image := corev1.ContainerImage{Names: references}
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
func addImage(images []corev1.ContainerImage, added corev1.ContainerImage) []corev1.ContainerImage {
	var kept []corev1.ContainerImage
	for _, image := range images {
		image.Names = slices.DeleteFunc(slices.Clone(image.Names),
			func(name string) bool { return slices.Contains(added.Names, name) })
		if len(image.Names) > 0 {
			kept = append(kept, image)
		}
	}
	kept = append(kept, added)
	return kept[max(0, len(kept)-maxImages):]
}
