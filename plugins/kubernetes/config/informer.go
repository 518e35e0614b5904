// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import "slices"

// AppStateInformer says which objects of a cluster live state and drift detection look at.
type AppStateInformer struct {
	// Namespace limits live state and drift detection to the objects of one namespace, and those without. Default: all.
	Namespace string `json:"namespace"`
	// IncludeResources are kinds to watch besides the usual ones. This plugin watches every kind that applications use,
	// so they change something for PipeCD's plugin only.
	IncludeResources []ResourceMatcher `json:"includeResources"`
	// ExcludeResources are kinds that live state and drift detection leave out.
	ExcludeResources []ResourceMatcher `json:"excludeResources"`
}

// ResourceMatcher chooses kinds.
type ResourceMatcher struct {
	// APIVersion is the API version, such as apps/v1.
	APIVersion string `json:"apiVersion"`
	// Kind is the kind. Default: all of the API version.
	Kind string `json:"kind"`
}

// Watches reports whether live state and drift detection look at an object. An object without a namespace is in none.
func (i AppStateInformer) Watches(apiVersion, kind, namespace string) bool {
	if i.Namespace != "" && namespace != "" && namespace != i.Namespace {
		return false
	}
	return !slices.ContainsFunc(i.ExcludeResources, func(m ResourceMatcher) bool {
		return m.APIVersion == apiVersion && (m.Kind == "" || m.Kind == kind)
	})
}
