// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// odd holds values that YAML and terminals read in their own ways.
type odd struct {
	Schema int               `json:"schema"`
	Text   string            `json:"text"`
	List   []string          `json:"list"`
	Map    map[string]string `json:"map"`
	Big    uint64            `json:"big"`
	Part   float64           `json:"part"`
	None   *string           `json:"none"`
	Is     bool              `json:"is"`
}

func oddValues() []odd {
	var all []odd
	for _, text := range []string{"", "yes", "1e3", "0x10", "~", "null", "2026-11-24", "a: b", "# no", "- x",
		"two\nlines",
		"\x1b[2J\x7f\u009b31m\u0085", "<a&b>", "\u2028", "日本語", " spaces ", "=", "\ttab", "'\"", "%", "@x"} {
		all = append(all, odd{1, text, []string{text, text}, map[string]string{text: text}, math.MaxUint64, 0.5, nil,
			true})
	}
	return all
}

func TestYAMLIsTheSameDocumentAsJSON(t *testing.T) {
	t.Parallel()
	for _, value := range oddValues() {
		var asJSON, asYAML strings.Builder
		require.NoError(t, (&Output{form: jsonForm}).Document(&asJSON, value))
		require.NoError(t, (&Output{form: yamlForm}).Document(&asYAML, value))
		require.True(t, strings.HasPrefix(asYAML.String(), "schema: 1\ntext: "), asYAML.String())
		var fromJSON, fromYAML odd
		require.NoError(t, json.Unmarshal([]byte(asJSON.String()), &fromJSON))
		var decoded map[string]any
		require.NoError(t, yaml.Unmarshal([]byte(asYAML.String()), &decoded), asYAML.String())
		again, err := json.Marshal(decoded)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(again, &fromYAML), string(again))
		require.Equal(t, value, fromJSON)
		require.Equal(t, value, fromYAML, asYAML.String())
	}
}

func TestADocumentDoesNotActOnTheTerminal(t *testing.T) {
	t.Parallel()
	for _, form := range []string{jsonForm, yamlForm} {
		for _, value := range oddValues() {
			var out strings.Builder
			require.NoError(t, (&Output{form: form}).Document(&out, value))
			for _, r := range out.String() {
				require.False(t, r < 0x20 && r != '\n' || 0x7f <= r && r < 0xa0, "%s: %q", form, out.String())
			}
			require.NotContains(t, out.String(), `\u003c`, "scripts and users read what was written")
		}
	}
}
