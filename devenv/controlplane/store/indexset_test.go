// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAnIndexSetTakesEveryIndexOnceInAnyOrder(t *testing.T) {
	t.Parallel()
	var s indexSet
	random := rand.New(rand.NewPCG(1, 2))
	order := random.Perm(2000)
	for _, i := range order {
		require.True(t, s.add(int64(i)))
		require.False(t, s.add(int64(i)))
	}
	require.Equal(t, []indexRange{{0, 1999}}, s.ranges, "neighbours become one range")
}

func TestAnIndexSetIsBounded(t *testing.T) {
	t.Parallel()
	var s indexSet
	for i := range int64(3 * maxRanges) {
		s.add(2 * i)
	}
	require.Len(t, s.ranges, maxRanges)
	require.True(t, s.add(6*maxRanges))
}
