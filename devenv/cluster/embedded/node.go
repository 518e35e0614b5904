// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package embedded

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"

	"github.com/pipedeck/pipedeck/devenv/cluster/kubeapi"
)

const nodesPath = "/api/v1/nodes"

// nodeImage is one that the node has.
type nodeImage struct {
	Names     []string `json:"names"`
	SizeBytes int64    `json:"sizeBytes,omitempty"`
}

// node is what is read of the one node.
type node struct {
	Metadata struct {
		Name            string `json:"name"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Status struct {
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
		Images []nodeImage `json:"images"`
	} `json:"status"`
}

// isReady reports whether the node has registered and takes pods.
func (n *node) isReady() bool {
	for _, condition := range n.Status.Conditions {
		if condition.Type == "Ready" {
			return condition.Status == "True"
		}
	}
	return false
}

// setImages replaces the list of images in the status of the node; a node that has changed since is a conflict.
func (n *node) setImages(ctx context.Context, api *kubeapi.Client, images []nodeImage) error {
	var patch struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Status struct {
			Images []nodeImage `json:"images"`
		} `json:"status"`
	}
	patch.Metadata.ResourceVersion, patch.Status.Images = n.Metadata.ResourceVersion, images
	return api.Patch(ctx, nodesPath+"/"+url.PathEscape(n.Metadata.Name)+"/status", patch)
}

// tryChangeImages changes the list of the node. False when the API server has ended the watch before that.
func tryChangeImages(ctx context.Context, api *kubeapi.Client, change changeFunc) (done bool, err error) {
	// Without a version a watch begins with what is there.
	return api.Watch(ctx, nodesPath, url.Values{"labelSelector": {nodeLabel}}, func(event kubeapi.Event) (bool, error) {
		var found node
		if json.Unmarshal(event.Object, &found) != nil || event.Type == kubeapi.Deleted || !found.isReady() {
			return false, nil
		}
		err := found.setImages(ctx, api, change(found.Status.Images))
		if kubeapi.IsConflict(err) { // the node has changed since; that event is on its way
			return false, nil
		}
		return err == nil, err
	})
}

// podImages returns the images that the containers of all pods name, as their manifests name them.
func podImages(ctx context.Context, api *kubeapi.Client) (map[string]bool, error) {
	type container struct {
		Image string `json:"image"`
	}
	var list struct {
		Items []struct {
			Spec struct {
				InitContainers []container `json:"initContainers"`
				Containers     []container `json:"containers"`
			} `json:"spec"`
		} `json:"items"`
	}
	if err := api.Get(ctx, "/api/v1/pods", nil, &list); err != nil {
		return nil, err
	}
	images := map[string]bool{}
	for _, pod := range list.Items {
		for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			images[container.Image] = true
		}
	}
	return images, nil
}
