// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package manifest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/manifest"
)

func TestTextIsTheYAMLOfKubectl(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		value any
		want  string
	}{
		"a switch is not text":                {true, "true"},
		"a word of YAML 1.1 is quoted":        {"yes", `"yes"`},
		"another word of YAML 1.1 is quoted":  {"off", `"off"`},
		"a word of YAML 1.2 is quoted":        {"true", `"true"`},
		"nothing":                             {nil, "null"},
		"the text null is quoted":             {"null", `"null"`},
		"empty text is quoted":                {"", `""`},
		"a whole number":                      {int64(1_000_000), "1000000"},
		"a number that float64 does not hold": {int64(9007199254740993), "9007199254740993"},
		"a broken number":                     {1.5, "1.5"},
		"text of digits is quoted":            {"8080", `"8080"`},
		"an octal number as text is quoted":   {"0644", `"0644"`},
		"a date as text is quoted":            {"2026-01-02", `"2026-01-02"`},
		"text with a comment sign is quoted":  {"a # b", `'a # b'`},
		"text with a colon is quoted":         {"a: b", `'a: b'`},
		"characters for HTML stay":            {"<a & b>", "<a & b>"},
		"lines become a block":                {"a\nb\n", "|\n    a\n    b"},
		"lines without an end become a block": {"a\nb", "|-\n    a\n    b"},
		"a list is not indented":              {[]any{"a", int64(1)}, "\n  - a\n  - 1"},
		"an empty list":                       {[]any{}, "[]"},
		"an empty mapping":                    {map[string]any{}, "{}"},
		"long text is folded": {strings.Repeat("word ", 20) + "end",
			strings.TrimSpace(strings.Repeat("word ", 16)) + "\n    " + strings.Repeat("word ", 4) + "end"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, err := manifest.Text(map[string]any{"spec": map[string]any{"b": c.value}, "kind": "Any"})
			require.NoError(t, err)
			want := "kind: Any\nspec:\n  b: " + c.want + "\n"
			require.Equal(t, strings.ReplaceAll(want, ": \n", ":\n"), text)
		})
	}
}
