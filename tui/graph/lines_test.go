// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheLinesOfACharacterAreThoseItWasChosenFor(t *testing.T) {
	t.Parallel()
	for i, r := range junctions {
		up, right, down, left, ok := Lines(r)
		require.Equal(t, i > 0, ok, "%q", r)
		if ok {
			a := arms{up: uint8(up), right: uint8(right), down: uint8(down), left: uint8(left)}
			require.Equal(t, string(r), string(junction(a, false)))
		}
	}
	for _, r := range "a✓╌╎█" {
		_, _, _, _, ok := Lines(r)
		require.False(t, ok, "%q", r)
	}
}
