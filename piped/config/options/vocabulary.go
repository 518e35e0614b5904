// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package options

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/message"
)

// countKeyword is a keyword of the schema of a mapping: {"count": "list"} says that the number under the key count is
// at most that of the different entries under the key list. A list that is empty or missing bounds nothing.
const countKeyword = "atMostEntries"

// vocabulary is the keywords that schemas of plugins may have besides those of JSON Schema. Other readers ignore them.
var vocabulary = &jsonschema.Vocabulary{
	URL: "plugin:vocabulary",
	Compile: func(_ *jsonschema.CompilerContext, schema map[string]any) (jsonschema.SchemaExt, error) {
		counts := asObject(schema[countKeyword])
		if len(counts) == 0 {
			return nil, nil
		}
		return bounded(counts), nil
	},
}

// bounded are the lists that bound numbers, by the key of the number.
type bounded map[string]any

// Validate implements [jsonschema.SchemaExt].
func (b bounded) Validate(ctx *jsonschema.ValidatorContext, value any) {
	mapping := asObject(value)
	for _, key := range slices.Sorted(maps.Keys(b)) {
		list, _ := b[key].(string)
		number, is := mapping[key].(json.Number)
		wanted, err := number.Int64()
		different := map[string]bool{}
		for _, entry := range asList(mapping[list]) {
			different[fmt.Sprint(entry)] = true
		}
		if is && err == nil && len(different) > 0 && wanted > int64(len(different)) {
			ctx.AddError(&tooMany{key: key, list: list, entries: len(different)})
		}
	}
}

// tooMany is the error of a number that is larger than its list is long.
type tooMany struct {
	key, list string
	entries   int
}

// KeywordPath implements [jsonschema.ErrorKind].
func (*tooMany) KeywordPath() []string { return []string{countKeyword} }

// LocalizedString implements [jsonschema.ErrorKind].
func (t *tooMany) LocalizedString(*message.Printer) string {
	entries := "1 entry"
	if t.entries > 1 {
		entries = fmt.Sprintf("%d entries", t.entries)
	}
	return fmt.Sprintf("is more than %s has: %s", t.list, entries)
}
