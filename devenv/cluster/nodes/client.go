// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package nodes

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// Resource is that of nodes in the API.
var Resource = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}

// Client is the API of the nodes of one cluster. Many goroutines may use it. Its errors are those of the API.
type Client struct{ api dynamic.ResourceInterface }

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
func New(client dynamic.Interface) *Client { return &Client{client.Resource(Resource)} }

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

// Watch sends the changes of nodes until ctx ends, the caller stops it or the server ends it. From reads their objects;
// that of an error is a *metav1.Status.
func (c *Client) Watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	return c.api.Watch(ctx, options)
}
