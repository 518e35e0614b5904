// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

var (
	// converting precedes what the API says of a value that its own type does not take; it names no field.
	converting = regexp.MustCompile(
		`(?s)(?:unable to convert unstructured object to [^:]+: |cannot be handled as an? \S+: )(.*)`)
	unparsedTime = regexp.MustCompile(`parsing time "((?:[^"\\]|\\.)*)" as`)
	unmarshalled = regexp.MustCompile(
		`json: cannot unmarshal (\w+) into Go (?:struct field [^.\s]+\.(\S+)|value) of type (\S+)`)
)

// describeConversion recognises what the API says of values that fit the schema, but not the type of a field. The
// fields are looked for in the manifest.
func describeConversion(refused *RefusedError, text string, m manifest.Manifest) bool {
	found := converting.FindStringSubmatch(text)
	if found == nil {
		return false
	}
	what := found[1]
	var problems []problem
	switch {
	case strings.Contains(what, "illegal base64 data"):
		problems = badBase64(m)
	case strings.Contains(what, "quantities must match"), strings.Contains(what, "unable to parse quantity"):
		problems = badQuantities(m)
	case strings.Contains(what, "float64 to int"):
		problems = fractions(m)
	case unparsedTime.MatchString(what):
		problems = badTimes(m, unparsedTime.FindStringSubmatch(what)[1])
	case unmarshalled.MatchString(what):
		parts := unmarshalled.FindStringSubmatch(what)
		text := fmt.Sprintf("expected a %s, got a %s", goType(parts[3]), jsonType(parts[1]))
		if parts[2] == "" {
			text = "one of its fields has the wrong type: " + text
		}
		problems = []problem{{path: parts[2], text: text}}
	}
	if len(problems) == 0 {
		problems = []problem{{text: shorten(what)}}
	}
	refused.take(problems, m)
	return true
}

// badBase64 are the entries of a Secret, or of the binary data of a ConfigMap, that cannot be decoded. Their values are
// not shown.
func badBase64(m manifest.Manifest) (problems []problem) {
	for _, field := range []string{"data", "binaryData"} {
		entries, _ := m.Object[field].(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(entries)) {
			text, is := entries[key].(string)
			if _, err := base64.StdEncoding.DecodeString(text); !is || err == nil {
				continue
			}
			p := problem{path: field + "." + key, text: "the value is not valid base64",
				remedy: "encode the value with base64"}
			if m.Is(manifest.KindSecret) {
				p.remedy += ", or write it as it is below stringData"
			}
			problems = append(problems, p)
		}
	}
	return problems
}

// amounts are the fields whose entries are quantities, or that are one themselves.
var amounts = []string{"limits", "requests", "capacity", "hard", "overhead", "sizeLimit", "divisor", "storage"}

func badQuantities(m manifest.Manifest) (problems []problem) {
	each(m.Object, "", func(path string, value any) {
		if !slices.Contains(amounts, lastName(path)) &&
			!slices.Contains(amounts, lastName(manifest.ParentPath(path))) {
			return
		}
		if _, err := resource.ParseQuantity(fmt.Sprint(value)); err != nil {
			problems = append(problems, problem{path: path, text: brief(value) + " is not a quantity",
				remedy: "write a number with a unit, such as 500m, 128Mi or 2Gi"})
		}
	})
	return problems
}

func fractions(m manifest.Manifest) (problems []problem) {
	each(m.Object, "", func(path string, value any) {
		if _, is := value.(float64); is {
			problems = append(problems, problem{path: path, text: brief(value) + " is not a whole number",
				remedy: "write a whole number"})
		}
	})
	return problems
}

func badTimes(m manifest.Manifest, quoted string) (problems []problem) {
	wrong, err := strconv.Unquote(`"` + quoted + `"`)
	if err != nil {
		return nil
	}
	each(m.Object, "", func(path string, value any) {
		if value == wrong {
			problems = append(problems, problem{path: path, text: brief(value) + " is not a time",
				remedy: "write it as 2006-01-02T15:04:05Z"})
		}
	})
	return problems
}

// each calls a function with every value that is no mapping and no list, in the order of the paths.
func each(value any, path string, f func(path string, value any)) {
	switch value := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			each(value[key], strings.TrimPrefix(path+"."+key, "."), f)
		}
	case []any:
		for i, item := range value {
			each(item, fmt.Sprintf("%s[%d]", path, i), f)
		}
	default:
		f(path, value)
	}
}

// jsonType is the type of a value in the words of manifests.
func jsonType(name string) string {
	switch name {
	case "object":
		return "map"
	case "array":
		return "list"
	case "bool":
		return "boolean"
	}
	return name
}

// goType is a type of Go in the words of manifests.
func goType(name string) string {
	switch {
	case strings.HasPrefix(name, "[]"):
		return "list"
	case strings.HasPrefix(name, "int"), strings.HasPrefix(name, "uint"), strings.HasPrefix(name, "float"):
		return "number"
	case name == "bool":
		return "boolean"
	case name == "string":
		return "string"
	}
	return "map"
}
