// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/pipedeck/pipedeck/system/clock"
)

const (
	// identityDeadline bounds the question to a cluster that has just become ready.
	identityDeadline = 20 * time.Second
	identityPause    = 200 * time.Millisecond
)

// recognise shows the control plane which cluster this is. One that was made again, or another one in its
// place, has none of what was deployed before, so that is deployed again.
func (e *Environment) recognise(ctx context.Context, c *runningCluster) {
	ctx, cancel := context.WithTimeout(ctx, identityDeadline)
	defer cancel()
	d := c.provider.Describe()
	identity := string(d.Kind)
	if d.Kubeconfig != "" {
		var err error
		for identity, err = identityOf(ctx, d.Kubeconfig); err != nil; identity, err = identityOf(ctx, d.Kubeconfig) {
			if !clock.Sleep(ctx, identityPause) {
				e.Logger.Warn("the cluster cannot be distinguished from others; "+
					"nothing is deployed again because of it",
					"cluster", c.name, "error", err)
				return
			}
		}
	}
	if n := e.server.Recognise(c.name, identity); n > 0 {
		e.Logger.Info("the cluster is another one than before; its applications are deployed again", "cluster", c.name,
			"applications", n)
	}
}

// identityOf is the uid of the namespace that each cluster has from its beginning to its end.
func identityOf(ctx context.Context, kubeconfig string) (string, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return "", err
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return "", err
	}
	namespace, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Get(ctx,
		metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	return string(namespace.GetUID()), nil
}
