// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"cmp"
	"math"
	"slices"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// kindOrder lists kinds in the order they are applied: what is needed before what needs it. Kinds that are not listed,
// custom ones above all, take the place of the empty group.
var kindOrder = [][]string{
	{manifest.KindNamespace},
	{manifest.KindCRD},
	{"PriorityClass", "RuntimeClass", "StorageClass", "IngressClass", "DeviceClass"},
	{"ResourceQuota", "LimitRange", "ServiceAccount"},
	{"Secret", "ConfigMap"},
	{"ClusterRole", "Role"},
	{"ClusterRoleBinding", "RoleBinding"},
	{"PersistentVolume", "PersistentVolumeClaim"},
	{"NetworkPolicy", "Service"},
	{},
	{"Pod", "ReplicationController", "ReplicaSet", "DaemonSet", "Deployment", "StatefulSet", "Job", "CronJob"},
	{"PodDisruptionBudget", "HorizontalPodAutoscaler", "Ingress"},
	{"APIService", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"},
}

// Sort returns the manifests in the order they are applied.
func Sort(manifests []manifest.Manifest) ([]manifest.Manifest, error) {
	found, err := waves(manifests)
	return slices.Concat(found...), err
}

// waves groups the manifests: those of one wave need nothing of each other and are applied side by side, wave after
// wave.
func waves(manifests []manifest.Manifest) ([][]manifest.Manifest, error) {
	type placed struct {
		manifest.Manifest
		order, rank int
	}
	all := make([]placed, len(manifests))
	for i, m := range manifests {
		order, err := orderOf(m)
		if err != nil {
			return nil, err
		}
		all[i] = placed{m, order, rank(m)}
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.order, b.order),
			cmp.Compare(a.rank, b.rank))
	})
	var found [][]manifest.Manifest
	for i, m := range all {
		if i == 0 || m.order != all[i-1].order || m.rank != all[i-1].rank {
			found = append(found, nil)
		}
		found[len(found)-1] = append(found[len(found)-1], m.Manifest)
	}
	return found, nil
}

// orderOf is the annotation's number. Without it, a namespace and a definition come before everything: nothing in them
// could be applied earlier.
func orderOf(m manifest.Manifest) (int, error) {
	_, given := m.GetAnnotations()[manifest.AnnotationOrder]
	if !given && (m.Is(manifest.KindNamespace) || m.Is(manifest.KindCRD)) {
		return math.MinInt, nil
	}
	return manifest.OrderOf(m)
}

func rank(m manifest.Manifest) int {
	other := 0
	for i, kinds := range kindOrder {
		if slices.Contains(kinds, m.GetKind()) {
			return i
		}
		if len(kinds) == 0 {
			other = i
		}
	}
	return other
}
