// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubelet

import (
	"context"
	"fmt"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// builtDomain is the registry of images that are built on this machine and loaded into the node. There is nowhere to
// pull them from, so the node takes only those that it knows.
const builtDomain = "pipedeck.dev"

// images are the references that the node knows, with their tags.
type images map[string]bool

func imagesOf(node *corev1.Node) images {
	known := images{}
	for _, image := range node.Status.Images {
		for _, name := range image.Names {
			if named, err := reference.ParseNormalizedNamed(name); err == nil {
				known[reference.TagNameOnly(named).String()] = true
			}
		}
	}
	return known
}

// lacks reports whether an image could only come from this machine, and did not.
func (i images) lacks(image string) bool {
	named, err := reference.ParseNormalizedNamed(image)
	return err == nil && reference.Domain(named) == builtDomain && !i[reference.TagNameOnly(named).String()]
}

// imagesFor gives what the node knows. When that is not enough for the pod it asks the API server, which may have been
// given an image just before the pod was made.
func (k *Kubelet) imagesFor(ctx context.Context, pod *corev1.Pod) (images, error) {
	node, err := k.nodes.Get(k.config.NodeName)
	if err != nil {
		return nil, fmt.Errorf("look up node: %w", err)
	}
	known := imagesOf(node)
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for _, container := range containers {
			if known.lacks(container.Image) {
				if node, err = k.config.Client.CoreV1().Nodes().Get(
					ctx, k.config.NodeName, metav1.GetOptions{},
				); err != nil {
					return nil, fmt.Errorf("look up node: %w", err)
				}
				return imagesOf(node), nil
			}
		}
	}
	return known, nil
}

// imagesChanged gives pods that wait for an image another chance.
func (k *Kubelet) imagesChanged(before, after *corev1.Node) {
	if equality.Semantic.DeepEqual(before.Status.Images, after.Status.Images) {
		return
	}
	pods, err := k.pods.List(labels.Everything())
	if err != nil {
		return // a lister on a cache does not fail
	}
	for _, pod := range pods {
		if pod.Spec.NodeName != "" && pod.Status.Phase == corev1.PodPending {
			k.enqueue(pod)
		}
	}
}
