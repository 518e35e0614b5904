// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const resource = "nodes"

// Client is the API of the nodes of one cluster. Many goroutines may use it. Its errors are those of the API.
type Client struct {
	api        rest.Interface
	parameters runtime.ParameterCodec
}

// Connect returns the client of the cluster that the current context of a kubeconfig file names. It asks nothing of the
// cluster. An error names what is wrong with the file.
func Connect(kubeconfig string) (*Client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("register the types of nodes: %w", err)
	}
	config.UserAgent = "pipedeck"
	config.APIPath = "/api"
	config.GroupVersion = &corev1.SchemeGroupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	api, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	return &Client{api, runtime.NewParameterCodec(scheme)}, nil
}

// List returns the nodes and the version that a watch continues from.
func (c *Client) List(ctx context.Context) (*corev1.NodeList, error) {
	list := &corev1.NodeList{}
	return list, c.api.Get().Resource(resource).Do(ctx).Into(list)
}

// PodImages returns the images that the containers of all pods name, as their manifests name them.
func (c *Client) PodImages(ctx context.Context) (map[string]bool, error) {
	pods := &corev1.PodList{}
	if err := c.api.Get().Resource("pods").Do(ctx).Into(pods); err != nil {
		return nil, err
	}
	images := map[string]bool{}
	for _, pod := range pods.Items {
		for _, container := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			images[container.Image] = true
		}
	}
	return images, nil
}

// Watch sends the changes of nodes until ctx ends, the caller stops it or the server ends it; the objects are
// *corev1.Node, and *metav1.Status for an error.
func (c *Client) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	options.Watch = true
	return c.api.Get().Resource(resource).VersionedParams(&options, c.parameters).Watch(ctx)
}

// UpdateStatus writes the status of a node, which is unchanged; a node that has changed since is a conflict.
func (c *Client) UpdateStatus(ctx context.Context, node *corev1.Node) error {
	return c.api.Put().Resource(resource).Name(node.Name).SubResource("status").Body(node).Do(ctx).Error()
}
