// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"cmp"
	"slices"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// kindOrder lists kinds in the order they are applied: what is needed before what needs it. Kinds that are not listed,
// custom ones above all, take the place of the empty group.
var kindOrder = [][]string{
	{"Namespace"},
	{"CustomResourceDefinition"},
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

// Sort gives the manifests in the order they are applied.
func Sort(manifests []manifest.Manifest) ([]manifest.Manifest, error) {
	orders := make(map[manifest.Key]int, len(manifests))
	for _, m := range manifests {
		order, err := manifest.OrderOf(m)
		if err != nil {
			return nil, err
		}
		orders[m.Key()] = order
	}
	result := slices.Clone(manifests)
	slices.SortStableFunc(result, func(a, b manifest.Manifest) int {
		return cmp.Or(cmp.Compare(orders[a.Key()], orders[b.Key()]), cmp.Compare(rank(a), rank(b)))
	})
	return result, nil
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
