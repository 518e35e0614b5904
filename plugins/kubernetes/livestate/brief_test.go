// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheShortReasonOfADriftIsInWords(t *testing.T) {
	t.Parallel()
	for says, value := range map[string]any{
		"nothing":                         nil,
		"4":                               int64(4),
		`"text"`:                          "text",
		"an empty object":                 map[string]any{},
		"an object with limits, requests": map[string]any{"requests": map[string]any{"cpu": 1}, "limits": nil},
		"an object with a, b, c, …":       map[string]any{"a": 1, "b": 1, "c": 1, "d": 1},
		"an empty list":                   []any{},
		"a list of 1 entry":               []any{map[string]any{"name": "web"}},
		"a list of 2 entries":             []any{1, 2},
	} {
		one := difference{path: "spec.x", git: nil, live: value}
		f := finding{differences: []difference{one}}
		require.Contains(t, f.short(), "spec.x: nothing in Git, "+says+" live")
		require.Equal(t, "spec.x: nothing in Git, "+says+" live", f.mark())
	}
	object := difference{path: "spec.x", live: map[string]any{"a": 1}}
	require.Contains(t, object.String(), `{"a":1} live`, "the whole reason has the value")
}
