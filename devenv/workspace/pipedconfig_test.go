// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package workspace

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/pipedeck/pipedeck/piped/config"
)

// PipeCD's piped reads YAML 1.1 as Kubernetes does, ours YAML 1.2: both have to read what was given.
func TestEveryPipedReadsThePluginConfigurationAsGiven(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]any{
		"a switch":                              true,
		"a word of YAML 1.1":                    "yes",
		"another word of YAML 1.1":              "off",
		"a letter that YAML 1.1 takes for true": "y",
		"the text null":                         "null",
		"a tilde":                               "~",
		"empty text":                            "",
		"a whole number":                        1_000_000,
		"a broken number":                       1.5,
		"a number that float64 does not hold":   json.Number("9007199254740993"),
		"digits as text":                        "8080",
		"an octal number as text":               "0644",
		"a new octal number as text":            "0o644",
		"a hexadecimal number as text":          "0x1F",
		"digits with a separator as text":       "1_000",
		"a sexagesimal number as text":          "1:30",
		"a date as text":                        "2026-01-02",
		"a time as text":                        "2026-01-02T03:04:05Z",
		"infinity as text":                      ".inf",
		"an exponent as text":                   "1e3",
		"a merge key as text":                   "<<",
		"a comment sign":                        "a # b",
		"a colon":                               "a: b",
		"a colon at the end":                    "a:",
		"an anchor":                             "&a",
		"an alias":                              "*a",
		"a tag":                                 "!a",
		"a bracket":                             "[a",
		"a template":                            "{{ .name }}",
		"a dash":                                "- a",
		"a document mark":                       "---",
		"a per cent sign":                       "%a",
		"an at sign":                            "@a",
		"quotes":                                `"a" 'b'`,
		"a backslash":                           `a\nb`,
		"blanks around":                         "  a  ",
		"a tab":                                 "\ta\tb",
		"lines":                                 "a\nb\n",
		"lines without an end":                  "a\nb",
		"lines with blank ones at the end":      "a\nb\n\n\n",
		"lines of which the first is indented":  "  a\nb\n",
		"lines of which the first is blank":     "\n\na\n",
		"lines with blanks at the end":          "a  \nb  \n",
		"lines for Windows":                     "a\r\nb\r\n",
		"a carriage return":                     "a\rb",
		"a control character":                   "a\x1b[1mb",
		"a byte order mark":                     "\ufeffa",
		"an emoji":                              "😀",
		"letters of Japan":                      "日本語",
		"characters for HTML":                   "<a & b>",
		"long text":                             strings.Repeat("word ", 60) + "end",
		"a list":                                []any{"a", 1, []any{"no"}, map[string]any{"b": "on"}},
		"an empty list":                         []any{},
		"an empty mapping":                      map[string]any{},
		"keys that are words": map[string]any{"yes": 1, "null": 2, "0644": 3, "a b": 4, "a: b": 5, "": 6,
			"on": 7, "1.5": 8, "#": 9, "- a": 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := map[string]any{"value": value}
			want, err := json.Marshal(given)
			require.NoError(t, err)
			data := writtenConfig(t, given)

			ours, err := config.ParsePiped(data, "piped.yaml")
			require.NoError(t, err, "%s", data)
			require.JSONEq(t, string(want), string(ours.Plugins[0].Config), "%s", data)

			var theirs struct {
				Spec struct {
					Plugins []struct {
						Config json.RawMessage `json:"config"`
					} `json:"plugins"`
				} `json:"spec"`
			}
			require.NoError(t, yaml.Unmarshal(data, &theirs), "%s", data)
			require.JSONEq(t, string(want), string(theirs.Spec.Plugins[0].Config), "%s", data)
		})
	}
}

// writtenConfig returns the piped configuration of an environment whose one plugin is configured so.
func writtenConfig(t *testing.T, plugin map[string]any) []byte {
	t.Helper()
	dir := t.TempDir()
	w, err := At(dir, "test")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	require.NoError(t, w.WritePipedConfig(PipedConfig{
		Address: "127.0.0.1:1", Repository: &Repository{Root: dir, Branch: "main"},
		Plugins: []Plugin{{Name: "greeter", URL: "file:///greeter", Config: plugin}},
	}))
	data, err := os.ReadFile(w.PipedConfig())
	require.NoError(t, err)
	return data
}
