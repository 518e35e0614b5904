// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEightyKillsReachEveryCell(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for _, c := range choose(rand.New(rand.NewPCG(1, 2)), 80) {
		seen[c.String()]++
	}
	require.Len(t, seen, len(victims())*len(moments()))
}

func TestFewKillsReachEveryVictimAndEveryMoment(t *testing.T) {
	t.Parallel()
	victim, moment := map[string]bool{}, map[string]bool{}
	chosen := choose(rand.New(rand.NewPCG(3, 4)), 24)
	require.Len(t, chosen, 24)
	for _, c := range chosen {
		victim[c.victim.name], moment[c.moment.name] = true, true
	}
	require.Len(t, victim, len(victims()))
	require.Len(t, moment, len(moments()))
}

func TestASeedRepeatsTheOrder(t *testing.T) {
	t.Parallel()
	order := func() (names []string) {
		for _, c := range choose(rand.New(rand.NewPCG(5, 6)), 80) {
			names = append(names, c.String())
		}
		return names
	}
	require.Equal(t, order(), order())
}
