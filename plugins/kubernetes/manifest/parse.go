// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Parse decodes a file's documents; a file ending in .json holds JSON. Lists are taken apart.
func Parse(data []byte, file string) ([]Manifest, error) {
	if strings.HasSuffix(file, ".json") {
		return parse(data, file, decodeJSON)
	}
	return parse(data, file, decodeYAML)
}

func parse(data []byte, file string, decode func(data []byte, file string) ([]document, error)) ([]Manifest, error) {
	documents, err := decode(data, file)
	if err != nil {
		return nil, err
	}
	var manifests []Manifest
	for _, d := range documents {
		origin := Origin{File: file, Line: d.line, lines: d.lines}
		parsed, err := toManifests(d.value, origin)
		if err != nil {
			return nil, err
		}
		manifests = append(manifests, parsed...)
	}
	return manifests, nil
}

func toManifests(value any, origin Origin) ([]Manifest, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: not a Kubernetes object: expected a map with apiVersion and kind", origin)
	}
	u := &unstructured.Unstructured{Object: object}
	if u.GetAPIVersion() == "" || u.GetKind() == "" {
		return nil, fmt.Errorf("%s: not a Kubernetes object: apiVersion and kind must both be given", origin)
	}
	if items, isList := object["items"].([]any); isList && strings.HasSuffix(u.GetKind(), "List") {
		var manifests []Manifest
		for i, item := range items {
			sub := origin.sub(fmt.Sprintf("items[%d]", i))
			parsed, err := toManifests(item, sub)
			if err != nil {
				return nil, err
			}
			manifests = append(manifests, parsed...)
		}
		return manifests, nil
	}
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: %s without metadata: metadata.name must be given", origin.At("kind"), u.GetKind())
	}
	for _, field := range []string{"labels", "annotations"} {
		if err := checkTexts(metadata, field, origin); err != nil {
			return nil, err
		}
	}
	return []Manifest{{Unstructured: u, Origin: origin}}, checkName(u, origin)
}

// checkName refuses what has no name. A hook may leave the name to the API, as hooks of Argo CD often do: it gets the
// same one in each deployment, so that what an earlier deployment ran makes place.
func checkName(u *unstructured.Unstructured, origin Origin) error {
	name := strings.TrimRight(u.GetGenerateName(), "-.")
	switch {
	case u.GetName() != "":
		return nil
	case name == "" || !IsHook(u):
		return fmt.Errorf("%s: %s without a name: metadata.name must be given as text (generateName cannot "+
			"be applied again)", origin.At("metadata"), u.GetKind())
	}
	u.SetGenerateName("")
	u.SetName(name)
	return nil
}

// checkTexts refuses label and annotation values that are not text: reading them back as a map of strings would lose
// all.
func checkTexts(metadata map[string]any, field string, origin Origin) error {
	value := metadata[field]
	if value == nil {
		delete(metadata, field)
		return nil
	}
	m, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%s: metadata.%s must be a map", origin.At("metadata."+field), field)
	}
	for key, v := range m {
		if _, ok := v.(string); !ok {
			return fmt.Errorf("%s: metadata.%s: the value of %q is %v, which is not text; put it in quotes",
				origin.At("metadata."+field+"."+key), field, key, v)
		}
	}
	return nil
}

// sub is the place of a part of a document, with the fields' paths counted from there.
func (o Origin) sub(path string) Origin {
	s := Origin{File: o.File, Line: o.Line, lines: map[string]int{}}
	if line, ok := o.lines[path]; ok {
		s.Line = line
	}
	for p, line := range o.lines {
		if rest, ok := strings.CutPrefix(p, path+"."); ok {
			s.lines[rest] = line
		}
	}
	return s
}
