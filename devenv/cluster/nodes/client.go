// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// Resource is that of nodes in the API.
var Resource = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}

var podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

// Client is the API of the nodes of one cluster. Many goroutines may use it. Its errors are those of the API.
type Client struct {
	cluster dynamic.Interface
	api     dynamic.ResourceInterface
}

// Connect returns the client of the cluster that the current context of a kubeconfig file names. It asks nothing of the
// cluster. An error names what is wrong with the file.
func Connect(kubeconfig string) (*Client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.UserAgent = "pipedeck"
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return New(client), nil
}

// New returns the client that asks by another one.
func New(client dynamic.Interface) *Client { return &Client{client, client.Resource(Resource)} }

// List returns the nodes and the version that a watch continues from.
func (c *Client) List(ctx context.Context) (nodes []*Node, version string, err error) {
	list, err := c.api.List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, "", err
	}
	for i := range list.Items {
		node, ok := From(&list.Items[i])
		if !ok {
			return nil, "", fmt.Errorf("read node %s: it has not the fields of a node", list.Items[i].GetName())
		}
		nodes = append(nodes, node)
	}
	return nodes, list.GetResourceVersion(), nil
}

// PodImages returns the images that the containers of all pods name, as their manifests name them.
func (c *Client) PodImages(ctx context.Context) (map[string]bool, error) {
	list, err := c.cluster.Resource(podResource).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	images := map[string]bool{}
	for _, item := range list.Items {
		var pod pod
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(item.Object, &pod); err != nil {
			return nil, fmt.Errorf("read pod %s/%s: %w", item.GetNamespace(), item.GetName(), err)
		}
		for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			images[container.Image] = true
		}
	}
	return images, nil
}

// Watch sends the changes of nodes until ctx ends, the caller stops it or the server ends it. From reads their objects;
// that of an error is a *metav1.Status.
func (c *Client) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return c.api.Watch(ctx, options)
}

// SetImages replaces the list of images in the status of a node; a node that has changed since is a conflict.
func (c *Client) SetImages(ctx context.Context, node *Node, images []Image) error {
	var patch struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Status struct {
			Images []Image `json:"images"`
		} `json:"status"`
	}
	patch.Metadata.ResourceVersion, patch.Status.Images = node.ResourceVersion, images
	data, err := json.Marshal(patch)
	if err != nil {
		return fmt.Errorf("encode the images of node %s: %w", node.Name, err)
	}
	_, err = c.api.Patch(ctx, node.Name, types.MergePatchType, data, metav1.PatchOptions{}, "status")
	return err
}
