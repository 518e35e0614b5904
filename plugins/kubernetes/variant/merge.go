// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"encoding/json"
	"errors"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// maxPatched bounds what copies of copies make: 1.5 MiB, more than which Kubernetes does not store.
const maxPatched = 3 << 19

// jsonPatch runs the operations of RFC 6902 in order; an error names the operation and its path.
func jsonPatch(document, operations any) (any, error) {
	list, ok := operations.([]any)
	if !ok || len(list) == 0 {
		return nil, errors.New(
			`value must be a list of operations of RFC 6902, such as [{op: add, path: /metadata/labels/a, value: b}]`)
	}
	data, err := json.Marshal(document)
	if err != nil {
		return nil, err
	}
	for i, operation := range list {
		one, err := json.Marshal([]any{operation})
		if err != nil {
			return nil, err
		}
		decoded, err := jsonpatch.DecodePatch(one)
		if err != nil {
			return nil, fmt.Errorf("value[%d] is not an operation of RFC 6902 with op and path: %w", i, err)
		}
		path, err := decoded[0].Path()
		if err != nil {
			return nil, fmt.Errorf("value[%d]: %s has no path", i, decoded[0].Kind())
		}
		if data, err = decoded.Apply(data); err != nil {
			return nil, fmt.Errorf("value[%d]: %s %s: %w", i, decoded[0].Kind(), path, err)
		}
		if len(data) > maxPatched {
			return nil, fmt.Errorf("value[%d]: %s %s: the document grows beyond %d bytes", i, decoded[0].Kind(), path,
				maxPatched)
		}
	}
	var changed any
	err = kjson.Unmarshal(data, &changed)
	return changed, err
}

// strategicMerge merges lists of a built-in kind by their keys, as kubectl does; in anything else a list is replaced as
// a whole (RFC 7386).
func strategicMerge(document, value any, m manifest.Manifest) (any, error) {
	change, ok := value.(map[string]any)
	if !ok || len(change) == 0 {
		return nil, errors.New("value must be a mapping of the fields to change, such as {spec: {template: …}}")
	}
	object, ok := document.(map[string]any)
	if !ok {
		return nil, errors.New("only a mapping can be merged into")
	}
	if kind := merged(m); kind != nil {
		changed, err := strategicpatch.StrategicMergeMapPatch(object, change, kind)
		return map[string]any(changed), err
	}
	before, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	patch, err := json.Marshal(change)
	if err != nil {
		return nil, err
	}
	data, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		return nil, err
	}
	var changed any
	err = kjson.Unmarshal(data, &changed)
	return changed, err
}

// merged is the type of a manifest whose lists have keys; nil for others. A variant has no manifests of other built-in
// kinds.
func merged(m manifest.Manifest) any {
	if m.Unstructured == nil {
		return nil
	}
	for kind, value := range map[string]any{
		manifest.KindDeployment:  appsv1.Deployment{},
		manifest.KindStatefulSet: appsv1.StatefulSet{},
		manifest.KindDaemonSet:   appsv1.DaemonSet{},
		manifest.KindService:     corev1.Service{},
		manifest.KindConfigMap:   corev1.ConfigMap{},
		manifest.KindSecret:      corev1.Secret{},
	} {
		if m.Is(kind) {
			return value
		}
	}
	return nil
}
