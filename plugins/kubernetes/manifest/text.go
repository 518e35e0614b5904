// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
)

// printer is the serializer with which kubectl prints objects.
var printer = json.NewSerializerWithOptions(json.DefaultMetaFactory, nil, nil, json.SerializerOptions{Yaml: true})

// Text returns an object as kubectl prints it: YAML with sorted keys, and with quotes around text that YAML 1.1 or 1.2
// would read as another type. The values are those of unstructured objects.
func Text(object map[string]any) (string, error) {
	var text strings.Builder
	err := printer.Encode(&unstructured.Unstructured{Object: object}, &text)
	return text.String(), err
}
