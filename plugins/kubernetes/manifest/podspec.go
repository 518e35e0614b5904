// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// PodSpec returns the pod spec of a workload, a Pod, a Job or a CronJob; nil for anything else. It is not a copy.
func PodSpec(m Manifest) map[string]any {
	path := []string{"spec", "template", "spec"}
	switch m.GetKind() {
	case "Pod":
		path = []string{"spec"}
	case "CronJob":
		path = []string{"spec", "jobTemplate", "spec", "template", "spec"}
	}
	return child(m.Object, path...)
}

// Containers returns the containers and init containers of a pod spec, in this order. They are not copies.
func Containers(podSpec map[string]any) []map[string]any {
	return append(mapsIn(podSpec["containers"]), mapsIn(podSpec["initContainers"])...)
}

// ConfigReference is a place in a pod spec that names a ConfigMap or a Secret.
type ConfigReference struct {
	// Kind is ConfigMap or Secret.
	Kind string
	// holder[field] is the name.
	holder map[string]any
	field  string
}

// Name is the name that is referred to.
func (r ConfigReference) Name() string {
	name, _ := r.holder[r.field].(string)
	return name
}

// Rename changes the reference.
func (r ConfigReference) Rename(name string) { r.holder[r.field] = name }

// ConfigReferences finds what a pod takes from ConfigMaps and Secrets: env, envFrom and volumes, projected ones
// included (PipeCD v1 leaves those out, so that a canary reads the primary's). imagePullSecrets are credentials, not
// configuration: see PullSecrets.
func ConfigReferences(podSpec map[string]any) []ConfigReference {
	var refs []ConfigReference
	add := func(kind string, holder map[string]any, field string) {
		if name, ok := holder[field].(string); ok && name != "" {
			refs = append(refs, ConfigReference{Kind: kind, holder: holder, field: field})
		}
	}
	for _, container := range Containers(podSpec) {
		for _, env := range mapsIn(container["env"]) {
			add(KindConfigMap, child(env, "valueFrom", "configMapKeyRef"), "name")
			add(KindSecret, child(env, "valueFrom", "secretKeyRef"), "name")
		}
		for _, from := range mapsIn(container["envFrom"]) {
			add(KindConfigMap, child(from, "configMapRef"), "name")
			add(KindSecret, child(from, "secretRef"), "name")
		}
	}
	for _, volume := range mapsIn(podSpec["volumes"]) {
		add(KindConfigMap, child(volume, "configMap"), "name")
		add(KindSecret, child(volume, "secret"), "secretName")
		for _, source := range mapsIn(child(volume, "projected")["sources"]) {
			add(KindConfigMap, child(source, "configMap"), "name")
			add(KindSecret, child(source, "secret"), "name")
		}
	}
	return refs
}

// PullSecrets finds the Secrets that a pod's images are pulled with.
func PullSecrets(podSpec map[string]any) []ConfigReference {
	var refs []ConfigReference
	for _, secret := range mapsIn(podSpec["imagePullSecrets"]) {
		refs = append(refs, ConfigReference{Kind: KindSecret, holder: secret, field: "name"})
	}
	return refs
}

// child walks down maps without copying them; nil when the path ends early.
func child(m map[string]any, path ...string) map[string]any {
	for _, field := range path {
		m, _ = m[field].(map[string]any)
	}
	return m
}

// mapsIn returns the maps in a list.
func mapsIn(list any) []map[string]any {
	items, _ := list.([]any)
	var found []map[string]any
	for _, item := range items {
		if m, ok := item.(map[string]any); ok {
			found = append(found, m)
		}
	}
	return found
}

// SetPodTemplateLabel sets a label of the pods that a workload makes.
func SetPodTemplateLabel(m Manifest, key, value string) error {
	return unstructured.SetNestedField(m.Object, value, "spec", "template", "metadata", "labels", key)
}

// SetPodTemplateAnnotation sets an annotation of the pods that a workload makes.
func SetPodTemplateAnnotation(m Manifest, key, value string) error {
	return unstructured.SetNestedField(m.Object, value, "spec", "template", "metadata", "annotations", key)
}

// SetSelectorLabel makes a workload select its pods by a label too.
func SetSelectorLabel(m Manifest, key, value string) error {
	return unstructured.SetNestedField(m.Object, value, "spec", "selector", "matchLabels", key)
}
