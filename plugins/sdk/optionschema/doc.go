// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package optionschema generates the JSON Schema of a plugin's options from the Go types that decode them and from the
// comments on their fields. A test of the plugin calls [Check], which compares the file that the program embeds with
// the types, or writes the file. Programs do not import the package.
//
// The keys of a mapping are the exported fields with their json tags. A tag jsonschema adds rules in the form
//
//	jsonschema:"required,enum=A,enum=B,minimum=1,default=2"
//
// with the keywords required, deprecated, writeOnly, enum, default, minimum, maximum, exclusiveMinimum, minLength,
// maxLength, minItems, pattern, format and patternErrorMessage, the words for what the pattern wants. writeOnly is for
// secrets, which no message shows. On a list, enum, minLength, maxLength, pattern, format, patternErrorMessage and
// writeOnly are those of its entries. No value holds a comma. A tag "-" leaves the field out.
// A type that decodes itself has a method JSONSchema() map[string]any, which returns the schema of its values. A struct
// with rules between its fields has a method ExtendSchema(schema map[string]any), which adds them.
//
// Besides the formats of JSON Schema, piped and pipedeck validate know local-path (a path that does not lead out of
// its folder), yaml (a text that is YAML), yaml-mapping (YAML of a mapping that is not empty) and json-patch (YAML of a
// list of operations of RFC 6902). They know these keywords, too:
//
//	"atMostEntries": {"count": "list"}  the number count is at most that of the different entries of the list, if any
//	"atMost": {"low": "high"}           the number low is at most the number high
//	"different": {"a": "x", "b": "y"}   the texts a and b, which are x and y by default, are not the same
//	"shares": ["rest", "a", "b"]        the percentages are 100 together, or less where the first is not given
//	"uniqueBy": "a.b"                   no two entries of a list have the same text there
//	"shorter": {"list[].a": "b"}        the duration a of each entry of the list is shorter than the duration b
//	"atLeast": {"a": "1s"}                    the duration a is at least so long, where it is more than 0
//	"fits": {"a": {"into": "b", "times": 3}}  the duration a fits so many times into the duration b; with
//	                                    "least": "1s", the duration a is at least that when it is not given
//	"withinTimeout": true               the duration is less than the timeout of the stage
//
// uniqueBy and withinTimeout are rules of tags as well; the others stand in the schema of a mapping.
//
// As encoding/json does, the schemas accept null in place of every value that is not required.
package optionschema
