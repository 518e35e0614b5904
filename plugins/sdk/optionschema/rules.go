// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package optionschema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// tagRules reads the tag jsonschema. A rule that it does not know is a mistake of the author, so it panics.
func tagRules(field reflect.StructField, property Object) (required bool) {
	tag := field.Tag.Get("jsonschema")
	if tag == "" {
		return false
	}
	for rule := range strings.SplitSeq(tag, ",") {
		keyword, value, _ := strings.Cut(rule, "=")
		switch keyword {
		case "required":
			required = true
		case "enum":
			at := entries(property)
			list, _ := at["enum"].([]any)
			at["enum"] = append(list, value)
		case "pattern", "patternErrorMessage", "format":
			entries(property)[keyword] = value
		case "minLength", "maxLength":
			entries(property)[keyword] = json.Number(value)
		case "uniqueBy":
			property[keyword] = value
		case "deprecated", "withinTimeout":
			property[keyword] = true
		case "writeOnly":
			entries(property)[keyword] = true
		case "default":
			property["default"] = literal(value, property["type"])
		case "exclusiveMinimum":
			property[keyword] = json.Number(value)
			delete(property, "minimum")
			if property["pattern"] != nil && value == "0" { // A text of a number that is more than 0 has another digit.
				property["allOf"] = []any{Object{"pattern": "[1-9]", "patternErrorMessage": "more than 0"}}
			}
		case "minimum", "maximum", "minItems":
			property[keyword] = json.Number(value)
		default:
			panic(fmt.Sprintf("optionschema: the tag of the field %s has the rule %q, which does not exist", field.Name,
				rule))
		}
	}
	return required
}

// entries is where rules of single values belong.
func entries(property Object) Object {
	if items, ok := property["items"].(Object); ok {
		return items
	}
	return property
}

// literal is the value of a default as JSON.
func literal(text string, kind any) any {
	if kind != "string" && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return text
}
