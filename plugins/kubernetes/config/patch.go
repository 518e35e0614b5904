// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Patch changes one manifest of the variant.
type Patch struct {
	// Target is the manifest that is changed. It has kind and name.
	Target PatchTarget `json:"target" jsonschema:"required"`
	// Ops are the changes.
	Ops []PatchOp `json:"ops" jsonschema:"required"`
}

// PatchTarget is a manifest, and optionally a string field of it that holds a separate document.
type PatchTarget struct {
	Reference
	// DocumentRoot is the path of a field whose text is YAML or JSON, to change what is in it.
	DocumentRoot string `json:"documentRoot"`
}

// ExtendSchema says what a patch finds its manifest by.
func (PatchTarget) ExtendSchema(schema map[string]any) {
	schema["required"] = []string{"kind", "name"}
	properties, _ := schema["properties"].(object)
	for _, key := range []string{"kind", "name"} {
		property, _ := properties[key].(object)
		property["type"], property["minLength"] = "string", 1
	}
	properties["documentRoot"] = fieldPath(properties["documentRoot"])
}

// fieldPath makes the schema of a text that of the path of a field. (PipeCD v1 wants the $.)
func fieldPath(property any) object {
	schema, _ := property.(object)
	schema["pattern"] = `^$|^\$?\.?((\['[^']+'\]|\["[^"]+"\]|\[[^'"\]][^\]]*\]|'[^']+'|[^.'\[][^.\[]*)\.?)+$`
	schema["patternErrorMessage"] = "the path of a field, such as $.spec.replicas"
	return schema
}

// Operations of a patch. PipeCD v1 has the first only.
const (
	OpYAMLReplace    = "yaml-replace"
	OpJSONPatch      = "json-patch"
	OpStrategicMerge = "strategic-merge"
)

// PatchOp is a change.
type PatchOp struct {
	// Op is the operation. Default yaml-replace, the only one that PipeCD reads.
	Op string `json:"op" jsonschema:"enum=yaml-replace,enum=json-patch,enum=strategic-merge,default=yaml-replace"`
	// Path is the path of the field that yaml-replace replaces, such as $.spec.replicas.
	Path string `json:"path"`
	// Value is the new value as YAML, or the patch.
	Value PatchValue `json:"value"`
}

// ExtendSchema says what each operation needs.
func (PatchOp) ExtendSchema(schema map[string]any) {
	properties, _ := schema["properties"].(object)
	properties["path"] = fieldPath(properties["path"])
	operation := func(name, format string) object {
		return object{
			"if": object{"required": []string{"op"}, "properties": object{"op": object{"const": name}}},
			"then": object{"required": []string{"value"}, "properties": object{
				"path": object{
					"maxLength": 0, "patternErrorMessage": "none, because the value says what is changed where",
				},
				"value": object{"format": format},
			}},
		}
	}
	schema["allOf"] = []any{
		operation(OpJSONPatch, "json-patch"), operation(OpStrategicMerge, "yaml-mapping"),
		object{
			"if": object{"properties": object{"op": object{"enum": []any{OpYAMLReplace, "", nil}}}},
			"then": object{"required": []string{"path"}, "properties": object{
				"path": object{"minLength": 1}, "value": object{"format": "yaml"},
			}},
		},
	}
}

// Name is the operation.
func (o PatchOp) Name() string {
	if o.Op == "" {
		return OpYAMLReplace
	}
	return o.Op
}

// PatchValue is the text of a YAML value. It may be written as text (PipeCD v1) or as the value itself.
type PatchValue string

// JSONSchema is the schema of anything.
func (PatchValue) JSONSchema() map[string]any { return map[string]any{} }

// UnmarshalJSON reads both forms.
func (v *PatchValue) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*v = PatchValue(text)
		return nil
	}
	*v = PatchValue(data)
	return nil
}

// validate reports what cannot work, beginning with the key that it is about.
func (p *Patch) validate() error {
	if p.Target.Kind == "" || p.Target.Name == "" {
		return errors.New("target: must have kind and name")
	}
	if len(p.Ops) == 0 {
		return errors.New("ops: is empty; give what to change")
	}
	for i, op := range p.Ops {
		switch name := op.Name(); {
		case name != OpYAMLReplace && name != OpJSONPatch && name != OpStrategicMerge:
			return fmt.Errorf("ops[%d].op: %q is not known; use %s, %s or %s", i, op.Op, OpYAMLReplace, OpJSONPatch,
				OpStrategicMerge)
		case name == OpYAMLReplace && op.Path == "":
			return fmt.Errorf("ops[%d].path: is missing; give the field to replace, such as "+
				"$.spec.template.spec.containers[0].image", i)
		case name != OpYAMLReplace && op.Path != "":
			return fmt.Errorf("ops[%d].path: %s has none; its value says what is changed where", i, name)
		case name != OpYAMLReplace && op.Value == "":
			return fmt.Errorf("ops[%d].value: is missing; give the patch", i)
		}
	}
	return nil
}
