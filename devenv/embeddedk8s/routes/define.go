// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package routes

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"
)

// definitions are the kinds of routes that Kubernetes does not have, with no more of a schema than what is read here:
// other fields are kept as they are.
//
//go:embed crds/*.yaml
var definitions embed.FS

var customResources = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
}

const (
	// defineTimeout bounds how long a new kind takes until it is served.
	defineTimeout = 30 * time.Second
	definePause   = 50 * time.Millisecond
)

// define creates the definitions that are missing, and returns when all kinds are served. Those of a user are left
// alone.
func define(ctx context.Context, client dynamic.Interface) error {
	ctx, cancel := context.WithTimeout(ctx, defineTimeout)
	defer cancel()
	files, err := fs.Glob(definitions, "crds/*.yaml")
	if err != nil {
		return err
	}
	var names []string
	for _, file := range files {
		content, err := definitions.ReadFile(file)
		if err != nil {
			return err
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(content, &object.Object); err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		_, err = client.Resource(customResources).Create(ctx, object, metav1.CreateOptions{FieldManager: fieldManager})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("define %s: %w", object.GetName(), err)
		}
		names = append(names, object.GetName())
	}
	ticker := time.NewTicker(definePause)
	defer ticker.Stop()
	for _, name := range names {
		for {
			object, err := client.Resource(customResources).Get(ctx, name, metav1.GetOptions{})
			if err == nil && established(object) {
				break
			}
			select {
			case <-ctx.Done():
				return fmt.Errorf("wait until %s is served: %w", name, ctx.Err())
			case <-ticker.C:
			}
		}
	}
	return nil
}

func established(object *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, each := range conditions {
		if c, _ := each.(map[string]any); c["type"] == "Established" && c["status"] == "True" {
			return true
		}
	}
	return false
}
