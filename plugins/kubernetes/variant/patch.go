// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

// applyPatches changes the manifests that the patches name, in order. Every patch has to find its manifest and field.
func applyPatches(manifests []manifest.Manifest, patches []config.Patch) ([]manifest.Manifest, error) {
	for i, p := range patches {
		matched := false
		for _, m := range manifests {
			if m.GetKind() != p.Target.Kind || m.GetName() != p.Target.Name {
				continue
			}
			matched = true
			if err := patch(m, p); err != nil {
				return nil, fmt.Errorf("with.patches[%d]: %s: %w", i, m.Key().Human(), err)
			}
		}
		if !matched {
			return nil, fmt.Errorf("with.patches[%d]: there is no %s named %q among the manifests", i, p.Target.Kind, p.Target.Name)
		}
	}
	return manifests, nil
}

func patch(m manifest.Manifest, p config.Patch) error {
	root := any(m.Object)
	if p.Target.DocumentRoot == "" {
		return replaceAll(root, p.Ops)
	}
	holder, err := fieldAt(root, p.Target.DocumentRoot)
	if err != nil {
		return err
	}
	text, ok := holder.get().(string)
	if !ok {
		return fmt.Errorf("%s is not text", p.Target.DocumentRoot)
	}
	var inner any
	if err := yaml.Unmarshal([]byte(text), &inner); err != nil {
		return fmt.Errorf("%s does not hold YAML: %w", p.Target.DocumentRoot, err)
	}
	if err := replaceAll(inner, p.Ops); err != nil {
		return err
	}
	changed, err := yaml.Marshal(inner)
	if err != nil {
		return err
	}
	holder.set(string(changed))
	return nil
}

func replaceAll(root any, ops []config.PatchOp) error {
	for _, op := range ops {
		f, err := fieldAt(root, op.Path)
		if err != nil {
			return err
		}
		var value any
		if err := yaml.Unmarshal([]byte(op.Value), &value); err != nil {
			return fmt.Errorf("value of %s is not YAML: %w", op.Path, err)
		}
		f.set(plain(value))
	}
	return nil
}

// field is a place that exists in a document.
type field struct {
	m     map[string]any
	key   string
	list  []any
	index int
}

func (f field) get() any {
	if f.m != nil {
		return f.m[f.key]
	}
	return f.list[f.index]
}

func (f field) set(v any) {
	if f.m != nil {
		f.m[f.key] = v
		return
	}
	f.list[f.index] = v
}

// fieldAt walks a path such as "$.spec.containers[0].image" or "$.data['envoy.yaml']".
func fieldAt(root any, path string) (field, error) {
	steps, err := splitPath(path)
	if err != nil {
		return field{}, err
	}
	var at field
	current := root
	for _, step := range steps {
		switch node := current.(type) {
		case map[string]any:
			if _, ok := node[step]; !ok {
				return field{}, fmt.Errorf("%s: there is no field %q", path, step)
			}
			at = field{m: node, key: step}
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(node) {
				return field{}, fmt.Errorf("%s: a list of %d has no item %q", path, len(node), step)
			}
			at = field{list: node, index: i}
		default:
			return field{}, fmt.Errorf("%s: nothing is below %q", path, step)
		}
		current = at.get()
	}
	return at, nil
}

func splitPath(path string) ([]string, error) {
	rest := strings.TrimPrefix(strings.TrimPrefix(path, "$"), ".")
	var steps []string
	for rest != "" {
		switch {
		case rest[0] == '[':
			inner, after, ok := strings.Cut(rest[1:], "]")
			if !ok {
				return nil, fmt.Errorf("path %q: a [ is not closed", path)
			}
			steps = append(steps, strings.Trim(inner, `'"`))
			rest = strings.TrimPrefix(after, ".")
		default:
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			steps = append(steps, rest[:end])
			rest = strings.TrimPrefix(rest[end:], ".")
		}
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("path %q names no field", path)
	}
	return steps, nil
}

// plain turns what YAML decodes to into what an unstructured object may hold.
func plain(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = plain(v[key])
		}
	}
	return v
}
