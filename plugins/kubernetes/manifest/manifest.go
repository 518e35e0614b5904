// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Manifest is one Kubernetes object as it stands in Git, and where it stands.
type Manifest struct {
	*unstructured.Unstructured
	// Origin is empty for what was generated.
	Origin Origin
}

// Origin is the place of a manifest.
type Origin struct {
	// File is relative to the application's directory. For what a template has made it ends in "(rendered)", and the
	// lines are those of what was made.
	File string
	// Line is that of the document's first key, from 1; 0 when unknown.
	Line int
	// lines holds the line of each field by its path: "spec.template.spec.containers[0].image".
	lines map[string]int
}

// String is "file:line", or "" when unknown.
func (o Origin) String() string {
	if o.File == "" || o.Line == 0 {
		return o.File
	}
	return o.File + ":" + strconv.Itoa(o.Line)
}

// At is the place of a field, or of its nearest parent that is known. path is dotted, without a leading dot.
func (o Origin) At(path string) string {
	for p := path; p != ""; p = ParentPath(p) {
		if line, ok := o.lines[p]; ok {
			return o.File + ":" + strconv.Itoa(line)
		}
	}
	return o.String()
}

// rendered reports whether a template has made it.
func (o Origin) rendered() bool { return strings.HasSuffix(o.File, renderedMark) }

// ParentPath is the path of the field that holds a field; empty for one of the object itself.
func ParentPath(path string) string {
	return path[:max(0, strings.LastIndexAny(path, ".["))]
}

// Key identifies a resource in a cluster, whatever version of its API is used.
type Key struct {
	Group, Kind, Namespace, Name string
}

// KeyOf returns the key of an object.
func KeyOf(o interface {
	GroupVersionKind() schema.GroupVersionKind
	GetNamespace() string
	GetName() string
}) Key {
	gvk := o.GroupVersionKind()
	return Key{Group: gvk.Group, Kind: gvk.Kind, Namespace: o.GetNamespace(), Name: o.GetName()}
}

// String is the form of the annotation resource-key (PipeCD v1: "group:Kind:namespace:name").
func (k Key) String() string {
	return strings.Join([]string{k.Group, k.Kind, k.Namespace, k.Name}, ":")
}

// Fold returns equal keys for the same resource however it is written (PipeCD v1: case does not count, and "default" is
// no namespace).
func (k Key) Fold() Key {
	namespace := strings.ToLower(k.Namespace)
	if namespace == "default" {
		namespace = ""
	}
	return Key{Group: strings.ToLower(k.Group), Kind: strings.ToLower(k.Kind), Namespace: namespace,
		Name: strings.ToLower(k.Name)}
}

// Human is how a resource is named in logs: "Deployment default/hello".
func (k Key) Human() string {
	if k.Namespace == "" {
		return k.Kind + " " + k.Name
	}
	return fmt.Sprintf("%s %s/%s", k.Kind, k.Namespace, k.Name)
}

// Key returns the manifest's key.
func (m Manifest) Key() Key { return KeyOf(m.Unstructured) }

// Clone is a deep copy; the origin stays.
func (m Manifest) Clone() Manifest {
	return Manifest{Unstructured: m.DeepCopy(), Origin: m.Origin}
}

// Is reports whether the manifest has the kind, in the API group that Kubernetes gives the kind itself.
func (m Manifest) Is(kind string) bool {
	return m.GetKind() == kind && m.GroupVersionKind().Group == builtinGroups[kind]
}

// IsWorkload reports whether the manifest has a pod template and selects its pods.
func (m Manifest) IsWorkload() bool {
	switch m.GetKind() {
	case KindDeployment, KindStatefulSet, KindDaemonSet, KindReplicaSet:
		return m.Is(m.GetKind())
	}
	return false
}

// Kinds that are treated specially.
const (
	KindDeployment  = "Deployment"
	KindStatefulSet = "StatefulSet"
	KindDaemonSet   = "DaemonSet"
	KindReplicaSet  = "ReplicaSet"
	KindService     = "Service"
	KindIngress     = "Ingress"
	// KindTraefikService is a Service of Traefik: others with weights, a cookie or copies of requests.
	KindTraefikService = "TraefikService"
	KindConfigMap      = "ConfigMap"
	KindSecret         = "Secret"
	KindNamespace      = "Namespace"
	KindCRD            = "CustomResourceDefinition"
)

var builtinGroups = map[string]string{
	KindDeployment: "apps", KindStatefulSet: "apps", KindDaemonSet: "apps", KindReplicaSet: "apps",
	KindCRD: "apiextensions.k8s.io",
}

// Find returns the manifests of a kind; name "" matches all.
func Find(manifests []Manifest, kind, name string) []Manifest {
	var found []Manifest
	for _, m := range manifests {
		if m.Is(kind) && (name == "" || m.GetName() == name) {
			found = append(found, m)
		}
	}
	return found
}

// CloneAll copies every manifest deeply.
func CloneAll(manifests []Manifest) []Manifest {
	copies := make([]Manifest, len(manifests))
	for i, m := range manifests {
		copies[i] = m.Clone()
	}
	return copies
}

func compareKeys(a, b Key) int {
	return cmp.Compare(a.String(), b.String())
}
