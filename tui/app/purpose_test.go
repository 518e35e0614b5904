// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// footerOf is the last line of the screen.
func footerOf(m *model) string {
	lines := strings.Split(ansi.Strip(m.View().Content), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

func TestTheFooterOfEveryTextFieldSaysWhatEnterAndEscDoThere(t *testing.T) {
	t.Parallel()
	const filters, searches = "enter keep filter   esc clear", "enter keep search   esc clear"
	for name, c := range map[string]struct {
		keys  []string
		sees  string
		loses string
	}{
		"applications": {[]string{"1", "/"}, filters, ""},
		"deployment":   {[]string{"2", "/"}, searches, ""},
		"log":          {[]string{"3", "/"}, "enter search   esc clear", ""},
		"plugins":      {[]string{"4", "/"}, filters, ""},
		"environment":  {[]string{"e", "/"}, filters, ""},
		"history":      {[]string{"d", "/"}, filters, ""},
		"resources":    {[]string{"t", "/"}, filters, ""},
		"insights":     {[]string{"I", "/"}, filters, ""},
		"inspector":    {[]string{"i", "/"}, filters, ""},
		"branch":       {[]string{"P"}, "enter preview   esc clear", ""},
		"help":         {[]string{"?", "/"}, searches, ""},
		"actions":      {[]string{":"}, "enter run   esc close", ""},
		"tear down":    {[]string{"q", "t", "d", "e", "f"}, "enter tear down   esc stay", "move"},
	} {
		m := still(t)
		m.size(120, 40)
		m.see(decktest.Running()...)
		m.key(c.keys...)
		require.NotNil(t, m.typing(), name)
		require.Contains(t, footerOf(m), c.sees, name)
		require.NotContains(t, footerOf(m), "delete all", name) // ctrl+u leaves what is right of the cursor
		edits := "ctrl+u delete left"
		if name == "actions" {
			edits = "ctrl+y copy command"
		}
		require.Contains(t, footerOf(m), edits, name)
		if c.loses != "" {
			require.NotContains(t, footerOf(m), c.loses, name)
		}
	}
}

func TestTheFooterOfTheFilterOfAChoiceKeepsTheFilter(t *testing.T) {
	t.Parallel()
	m := still(t)
	m.size(120, 40)
	m.see(decktest.Running()...)
	m.actions.askTarget([]*deckv1.Deployment{decktest.Canary()})
	m.key("/")
	require.Contains(t, footerOf(m), "enter keep filter   esc clear")
}
