// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package portforward

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pipedeck/pipedeck/devenv/services"
)

var serviceResource = schema.GroupVersionResource{Version: "v1", Resource: "services"}

// found is a port of an application.
type found struct {
	// source is what it belongs to ("Service default/web"), port its name or number.
	source, port string
	scheme       services.Scheme
	// others are further things that could have been meant.
	others  []string
	watcher watcher
}

// find looks for what a request means.
func (c *cluster) find(ctx context.Context, r Request) (found, error) {
	all, err := list[services.Service](ctx, c, serviceResource, r)
	if err != nil {
		return found{}, err
	}
	chosen, any, err := services.Choose(all, r.Name, r.Port)
	switch {
	case err != nil:
		return found{}, err
	case !any:
		return c.findWorkload(ctx, r)
	}
	return found{
		source: chosen.Source(), port: chosen.PortName(), scheme: chosen.Port.Scheme(), others: chosen.Others,
		watcher: watchService(chosen.Service, chosen.Port.Name),
	}, nil
}

// list returns the objects of an application.
func list[T any](ctx context.Context, c *cluster, resource schema.GroupVersionResource, r Request) ([]*T, error) {
	list, err := c.objects.Resource(resource).List(ctx,
		metav1.ListOptions{LabelSelector: services.LabelApplication + "=" + r.ApplicationID})
	if err != nil {
		return nil, fmt.Errorf("list the %s of %s in cluster %s: %w; see pipedeck status", resource.Resource, r.Name,
			r.Cluster, err)
	}
	var typed []*T
	for _, o := range list.Items {
		t := new(T)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, t); err != nil {
			return nil, fmt.Errorf("read %s %s: %w; this is a bug, please report it", resource.Resource, o.GetName(),
				err)
		}
		typed = append(typed, t)
	}
	return typed, nil
}
