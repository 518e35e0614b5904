// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package variant

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"

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
			key := m.Key()
			if err := patch(m, p); err != nil {
				return nil, fmt.Errorf("with.patches[%d]: %s: %w", i, key.Human(), err)
			}
			if m.Key() != key {
				return nil, fmt.Errorf("with.patches[%d]: %s: a patch must not make it %s; set the variant's name "+
					"by with.suffix", i, key.Human(), m.Key().Human())
			}
		}
		if !matched {
			return nil, fmt.Errorf("with.patches[%d]: there is no %s named %q among the manifests", i, p.Target.Kind,
				p.Target.Name)
		}
	}
	return manifests, nil
}

func patch(m manifest.Manifest, p config.Patch) error {
	if p.Target.DocumentRoot == "" {
		changed, err := runOps(m.Object, p.Ops, m)
		if err != nil {
			return err
		}
		object, ok := changed.(map[string]any)
		if !ok {
			return fmt.Errorf("the patch leaves no object")
		}
		m.Object = object
		return nil
	}
	holders, err := fieldsAt(m.Object, p.Target.DocumentRoot)
	if err != nil {
		return fmt.Errorf("documentRoot: %w", err)
	}
	for _, holder := range holders {
		text, ok := holder.get().(string)
		if !ok {
			return fmt.Errorf("documentRoot: %s is not text", p.Target.DocumentRoot)
		}
		inner, err := manifest.ParseValue(text, p.Target.DocumentRoot)
		if err != nil {
			return fmt.Errorf("documentRoot: %w", err)
		}
		if inner, err = runOps(inner, p.Ops, manifest.Manifest{}); err != nil {
			return fmt.Errorf("in %s: %w", p.Target.DocumentRoot, err)
		}
		changed, err := marshalLike(text, inner)
		if err != nil {
			return fmt.Errorf("in %s: %w", p.Target.DocumentRoot, err)
		}
		holder.set(changed)
	}
	return nil
}

// runOps changes a document; the one that is given may be changed as well. m is the manifest that the document is,
// without an object when it is none.
func runOps(document any, ops []config.PatchOp, m manifest.Manifest) (any, error) {
	for i, op := range ops {
		changed, err := runOp(document, op, m)
		if err != nil {
			name := op.Name()
			if op.Path != "" {
				name += " " + op.Path
			}
			return nil, fmt.Errorf("ops[%d] (%s): %w", i, name, err)
		}
		document = changed
	}
	return document, nil
}

func runOp(document any, op config.PatchOp, m manifest.Manifest) (any, error) {
	value, err := manifest.ParseValue(string(op.Value), "value")
	if err != nil {
		return nil, err
	}
	switch op.Name() {
	case config.OpJSONPatch:
		return jsonPatch(document, value)
	case config.OpStrategicMerge:
		return strategicMerge(document, value, m)
	}
	fields, err := fieldsAt(document, op.Path)
	if err != nil {
		return nil, err
	}
	for _, f := range fields {
		f.set(runtime.DeepCopyJSONValue(value))
	}
	return document, nil
}

// marshalLike writes a document as JSON where it was JSON, and as YAML otherwise.
func marshalLike(old string, document any) (string, error) {
	if !json.Valid([]byte(old)) {
		text, err := yaml.Marshal(document)
		return string(text), err
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if strings.Contains(strings.TrimSpace(old), "\n") {
		encoder.SetIndent("", "  ")
	}
	err := encoder.Encode(document)
	return text.String(), err
}
