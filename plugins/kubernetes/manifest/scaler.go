// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// ScaleTarget returns what an object scales: a HorizontalPodAutoscaler, or a ScaledObject of KEDA. The key is folded;
// ok is false for other objects, and for what names no target.
func ScaleTarget(o *unstructured.Unstructured) (target Key, ok bool) {
	version, kind := "", ""
	switch o.GroupVersionKind().GroupKind().String() {
	case "HorizontalPodAutoscaler.autoscaling":
	case "ScaledObject.keda.sh": // KEDA: a Deployment of apps/v1 when nothing else is given
		version, kind = "apps/v1", KindDeployment
	default:
		return Key{}, false
	}
	spec, _ := o.Object["spec"].(map[string]any)
	ref, _ := spec["scaleTargetRef"].(map[string]any)
	text := func(name string) string {
		value, _ := ref[name].(string)
		return value
	}
	group, err := schema.ParseGroupVersion(cmp.Or(text("apiVersion"), version))
	target = Key{Group: group.Group, Kind: cmp.Or(text("kind"), kind), Namespace: o.GetNamespace(), Name: text("name")}
	return target.Fold(), err == nil && target.Kind != "" && target.Name != ""
}
