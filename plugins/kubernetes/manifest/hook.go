// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// annotationHook names the moments at which Helm creates a resource.
const annotationHook = "helm.sh/hook"

// Moment is an occasion on which hooks run.
type Moment string

// The moments of a deployment and of a rollback.
const (
	// Install is the first deployment of an application, Upgrade every later one.
	Install  Moment = "install"
	Upgrade  Moment = "upgrade"
	Rollback Moment = "rollback"
)

// crdInstall is a hook of Helm 2, for definitions.
const crdInstall = "crd-install"

// Hooks returns the moments of a hook, such as "pre-install"; none for other objects.
func Hooks(o metav1.Object) []string {
	var hooks []string
	for hook := range strings.SplitSeq(o.GetAnnotations()[annotationHook], ",") {
		if hook = strings.TrimSpace(hook); hook != "" {
			hooks = append(hooks, hook)
		}
	}
	return hooks
}

// IsOf reports whether a hook is one before or after a moment.
func (m Moment) IsOf(hooks []string) bool {
	return slices.Contains(hooks, "pre-"+string(m)) || slices.Contains(hooks, "post-"+string(m))
}

// isDeployed reports whether hooks have a moment that a deployment has.
func isDeployed(hooks []string) bool {
	return Install.IsOf(hooks) || Upgrade.IsOf(hooks) || slices.Contains(hooks, crdInstall)
}

// RunsAsHook reports whether a manifest is a Job or a Pod that is a hook of a deployment. Such a hook runs once in each
// deployment that has its moment: what ran earlier is no result of this one. Other kinds of hooks are applied like all
// manifests.
func (m Manifest) RunsAsHook() bool {
	switch m.GroupVersionKind().GroupKind() {
	case schema.GroupKind{Group: "batch", Kind: "Job"}, schema.GroupKind{Kind: "Pod"}:
		return isDeployed(Hooks(m))
	}
	return false
}
