// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package trigger

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheMemoryOfCommitsIsBounded(t *testing.T) {
	t.Parallel()
	m := newMemory(3)
	for i := range 3 {
		m.put(fmt.Sprint(i), "c")
	}
	m.get("0")
	m.put("1", "d")
	m.put("3", "c")
	_, known := m.get("2")
	require.False(t, known, "the longest unused is forgotten")
	commit, known := m.get("1")
	require.True(t, known)
	require.Equal(t, "d", commit)
	_, known = m.get("0")
	require.True(t, known)
	require.Len(t, m.entries, 3)
	require.Equal(t, 3, m.order.Len())
}
