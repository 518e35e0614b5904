// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package relay

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTurnsAreSharedByWeightAndMixed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		weights []int32
		turns   []int
	}{
		{[]int32{3, 1}, []int{0, 0, 1, 0, 0, 0, 1, 0}},
		{[]int32{50, 50}, []int{0, 1, 0, 1}},
		{[]int32{0, 2}, []int{1, 1, 1}},
		{[]int32{0, 0}, []int{-1, -1}},
		{nil, []int{-1}},
	} {
		s := NewSplit(test.weights)
		for i, want := range test.turns {
			require.Equal(t, want, s.Next(), "turn %d of %v", i, test.weights)
		}
	}
	s := NewSplit([]int32{90, 10})
	counts := [2]int{}
	for range 1000 {
		counts[s.Next()]++
	}
	require.Equal(t, [2]int{900, 100}, counts)
}

func TestDialWhereSharesAmongTheChosen(t *testing.T) {
	t.Parallel()
	p := newPods(t)
	e := NewEndpoints(p.resolve)
	e.Set([]Address{p.start("a1"), p.start("a2"), p.start("b1")}, 0)
	counts := map[string]int{}
	for range 10 {
		conn, err := e.DialWhere(t.Context(), func(a Address) bool { return a.IP[0] == 'a' })
		require.NoError(t, err)
		name := make([]byte, 2)
		_, err = conn.Read(name)
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		counts[string(name)]++
	}
	require.Equal(t, map[string]int{"a1": 5, "a2": 5}, counts)
	_, err := e.DialWhere(t.Context(), func(Address) bool { return false })
	require.EqualError(t, err, "no endpoint: 3 ready, but none of the version that is meant")
}
