// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// formats are the values of the keyword format that schemas of plugins may have besides those of JSON Schema. Other
// readers of a schema ignore them. The error is the end of a message that begins with the value.
var formats = []*jsonschema.Format{
	{Name: "local-path", Validate: checkLocalPath},
	{Name: "yaml", Validate: checkYAML},
	{Name: "yaml-mapping", Validate: checkYAMLMapping},
	{Name: "json-patch", Validate: checkJSONPatch},
}

// isOwnFormat reports whether the errors of a format are ours.
func isOwnFormat(name string) bool {
	return slices.ContainsFunc(formats, func(f *jsonschema.Format) bool { return f.Name == name })
}

// checkLocalPath refuses a path that leads out of the folder that it is relative to.
func checkLocalPath(value any) error {
	if name, is := value.(string); is && name != "" && !filepath.IsLocal(filepath.FromSlash(name)) {
		return errors.New("leads outside of the directory that it is relative to")
	}
	return nil
}

// fromYAML returns what a text means as YAML, and any other value itself.
func fromYAML(value any) (any, error) {
	text, is := value.(string)
	if !is {
		return value, nil
	}
	var inner any
	if err := yaml.Unmarshal([]byte(text), &inner); err != nil {
		return nil, fmt.Errorf("is not valid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	return inner, nil
}

func checkYAML(value any) error {
	_, err := fromYAML(value)
	return err
}

func checkYAMLMapping(value any) error {
	inner, err := fromYAML(value)
	if mapping, is := inner.(map[string]any); err == nil && (!is || len(mapping) == 0) {
		return errors.New("is not a mapping with the fields to change, such as {spec: {replicas: 1}}")
	}
	return err
}

// patchOperations are those of RFC 6902.
var patchOperations = []string{"add", "copy", "move", "remove", "replace", "test"}

// checkJSONPatch refuses what is no list of operations of RFC 6902, or whose paths no document has.
func checkJSONPatch(value any) error {
	inner, err := fromYAML(value)
	if err != nil {
		return err
	}
	operations, _ := inner.([]any)
	if len(operations) == 0 {
		return errors.New("is not a JSON patch: want a list of operations, such as " +
			"[{op: add, path: /metadata/labels/a, value: b}]")
	}
	for i, operation := range operations {
		if err := checkOperation(operation); err != nil {
			return fmt.Errorf("is not a JSON patch: operation %d %w", i+1, err)
		}
	}
	return nil
}

func checkOperation(operation any) error {
	fields, is := operation.(map[string]any)
	if !is {
		return errors.New("is not a mapping: want one such as {op: remove, path: /spec/replicas}")
	}
	name, _ := fields["op"].(string)
	if !slices.Contains(patchOperations, name) {
		return fmt.Errorf("has no op that exists: want %s%s", strings.Join(patchOperations, " or "),
			near(name, patchOperations))
	}
	paths := []string{"path"}
	if name == "move" || name == "copy" {
		paths = append(paths, "from")
	}
	for _, key := range paths {
		if path, _ := fields[key].(string); !strings.HasPrefix(path, "/") {
			return fmt.Errorf("has no %s that begins with a slash: want one such as /spec/replicas", key)
		}
	}
	return nil
}
