// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"encoding/json"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func TestOtherOptionsDoNothingElseToTheWorld(t *testing.T) {
	t.Parallel()
	var given map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(`{"steps": ["a", "b"], "none": [], "pause": 0.4, "count": 2,
		"dryRun": true, "run": ["rm", "x"], "path": "/x", "zero": 0}`), &given))
	others := otherOptions(given)
	require.Len(t, others, 2)
	for i, want := range []string{`"count":3`, `"steps":["a","b","b"]`} {
		require.Contains(t, others[i], want)
	}
}

func TestWhatChangesEachTimeIsNoDifferenceOfALog(t *testing.T) {
	t.Parallel()
	const log = "step 2 of 3 after %s"
	for _, part := range []string{"1.25s", "300 ms", "2m3.5s", "12 seconds", "stage-17", "2026-11-27 23:40:01",
		"0123456789abcdef", "1764286800"} {
		for _, letter := range changing.ReplaceAllString(part, "") {
			require.Contains(t, "T -", string(letter), part)
		}
	}
	require.Equal(t, log, changing.ReplaceAllString(log, "…"))
}
