// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package phase

import (
	"cmp"
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

// Wave is what is applied together. It ends when its objects are healthy, or have come to their end.
type Wave struct {
	Number int
	// Groups follow each other without a wait, in the order of kinds. The objects of one group need nothing of each
	// other.
	Groups [][]manifest.Manifest
}

// Manifests are those of all groups.
func (w Wave) Manifests() []manifest.Manifest { return slices.Concat(w.Groups...) }

// Waves returns the manifests of one moment in the order they are applied.
func Waves(manifests []manifest.Manifest) ([]Wave, error) {
	type placed struct {
		manifest.Manifest
		wave, rank int
	}
	all := make([]placed, len(manifests))
	for i, m := range manifests {
		p, err := Of(m)
		if err != nil {
			return nil, err
		}
		all[i] = placed{m, p.Wave, rank(m)}
	}
	slices.SortStableFunc(all, func(a, b placed) int {
		return cmp.Or(cmp.Compare(a.wave, b.wave), cmp.Compare(a.rank, b.rank))
	})
	var waves []Wave
	for i, m := range all {
		newWave := i == 0 || m.wave != all[i-1].wave
		if newWave {
			waves = append(waves, Wave{Number: m.wave})
		}
		w := &waves[len(waves)-1]
		if newWave || m.rank != all[i-1].rank {
			w.Groups = append(w.Groups, nil)
		}
		last := len(w.Groups) - 1
		w.Groups[last] = append(w.Groups[last], m.Manifest)
	}
	return waves, nil
}

// Sort returns the manifests of one moment in the order they are applied.
func Sort(manifests []manifest.Manifest) ([]manifest.Manifest, error) {
	waves, err := Waves(manifests)
	var sorted []manifest.Manifest
	for _, w := range waves {
		sorted = append(sorted, w.Manifests()...)
	}
	return sorted, err
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
