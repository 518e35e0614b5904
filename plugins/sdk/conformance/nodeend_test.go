// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func TestTheEndOfNodeIsExplainedByWhatWasThrown(t *testing.T) {
	t.Parallel()
	const version = "\n    at f (a.js:1:2)\n\nNode.js v20.20.2\n"
	for output, want := range map[string]string{
		"started\nf:1\nx\n    ^\n\nError: late timer" + version: "Error: late timer",
		"node:123\n    x(\n    ^\n{ a: 1 }" + version:           "{ a: 1 }",
		"f:1\nx\n^^^\n\nTypeError: x is not y\nb" + version:     "TypeError: x is not y",
		"Error: late timer\n":                                   "",
		"Node.js v20.20.2\n":                                    "",
		"":                                                      "",
	} {
		require.Equal(t, want, thrownInNode(output))
	}
	c := &capture{}
	_, _ = c.Write([]byte("f:1\nx\n^\n\nError: late timer" + version))
	require.Equal(t, "Error: late timer", c.lastWords())
}
