// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAMarkerIsFoundHoweverItIsCutUp(t *testing.T) {
	t.Parallel()
	for size := 1; size < 12; size++ {
		for text, want := range map[string]bool{
			"..MARKER..": true, "MARKER": true, "....MARKE": false, "MARKEMARKER": true, "MARKEXR": false,
		} {
			w := &markerWriter{marker: []byte("MARKER")}
			for rest := text; rest != ""; {
				n := min(size, len(rest))
				_, _ = w.Write([]byte(rest[:n]))
				rest = rest[n:]
			}
			require.Equal(t, want, w.found, "%s in pieces of %d", text, size)
		}
	}
}
