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
	Target PatchTarget `json:"target"`
	Ops    []PatchOp   `json:"ops"`
}

// PatchTarget is a manifest, and optionally a string field of it that holds a document of its own.
type PatchTarget struct {
	Reference
	// DocumentRoot is the path of a field whose text is YAML or JSON; the operations then work inside of it.
	DocumentRoot string `json:"documentRoot"`
}

// Operations of a patch. PipeCD v1 has the first only.
const (
	OpYAMLReplace    = "yaml-replace"
	OpJSONPatch      = "json-patch"
	OpStrategicMerge = "strategic-merge"
)

// PatchOp is a change.
type PatchOp struct {
	// Op is one of the operations; empty is OpYAMLReplace.
	Op string `json:"op"`
	// Path is "$.spec.template.spec.containers[0].image", for OpYAMLReplace alone.
	Path string `json:"path"`
	// Value is YAML: the new value, or the patch itself.
	Value PatchValue `json:"value"`
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

// validate tells what cannot work, beginning with the key that it is about.
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
			return fmt.Errorf("ops[%d].op: %q is not known; use %s, %s or %s", i, op.Op, OpYAMLReplace, OpJSONPatch, OpStrategicMerge)
		case name == OpYAMLReplace && op.Path == "":
			return fmt.Errorf("ops[%d].path: is missing; give the field to replace, such as $.spec.template.spec.containers[0].image", i)
		case name != OpYAMLReplace && op.Path != "":
			return fmt.Errorf("ops[%d].path: %s has none; its value says what is changed where", i, name)
		case name != OpYAMLReplace && op.Value == "":
			return fmt.Errorf("ops[%d].value: is missing; give the patch", i)
		}
	}
	return nil
}
