// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

func TestAMatchInOnePieceComesBeforeScatteredLetters(t *testing.T) {
	t.Parallel()
	m := still(t)
	for query, c := range map[string]struct{ items, found []string }{
		"morn": {[]string{"Move or rename", "the memory-origin", "Say good morning"},
			[]string{"Say good morning", "the memory-origin"}},
		"eu":    {[]string{"reuse", "pay-eu", "queue"}, []string{"pay-eu", "reuse", "queue"}},
		"us pa": {[]string{"reuse-spa", "pay-us"}, []string{"pay-us", "reuse-spa"}},
		"":      {[]string{"b", "a"}, []string{"b", "a"}},
	} {
		look := newFind(m.host.theme, "/")
		look.query = query
		require.Equal(t, c.found, ranked(look, c.items, func(s string) []string { return []string{s} }), query)
	}
}

func TestTheTitleCountsMoreThanTheOtherFields(t *testing.T) {
	t.Parallel()
	m := still(t)
	look := newFind(m.host.theme, "/")
	look.query = "web"
	items := [][]string{{"search", "team=web"}, {"web", "team=pay"}}
	require.Equal(t, "web", ranked(look, items, func(s []string) []string { return s })[0][0])
}

func TestTheChoiceOfADeploymentFindsTheMessageInOnePieceFirst(t *testing.T) {
	t.Parallel()
	m := still(t)
	var targets []*deckv1.Deployment
	for i, message := range []string{"memory-origin", "more memory-origins", "Say good morning"} {
		d := earlierOf(i + 1)
		d.Commit.Message = message
		targets = append(targets, d)
	}
	m.size(100, 30)
	m.actions.askTarget(targets)
	m.key("/", "m", "o", "r", "n")
	chosen := m.overlays.top().(*chooser)
	require.Equal(t, keymap.No, chosen.choices[0].answer)
	require.Contains(t, chosen.choices[1].text, "Say good morning")
	require.Equal(t, 1, chosen.selected)
}
