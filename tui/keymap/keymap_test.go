// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package keymap_test

import (
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/keymap"
)

var scopes = []keymap.Scope{
	keymap.Startup, keymap.Applications, keymap.Deployment, keymap.Log, keymap.Plugins, keymap.Environment,
	keymap.History, keymap.Resources, keymap.QuitDialog, keymap.ConfirmDialog, keymap.ChoiceDialog, keymap.ListDialog,
	keymap.HelpOverlay,
	keymap.Typing, keymap.PaletteOverlay,
}

func TestNoKeyMeansTwoThingsInOnePlace(t *testing.T) {
	t.Parallel()
	for _, scope := range scopes {
		taken := map[string]keymap.Action{}
		for _, b := range keymap.Default() {
			if !b.In(scope) {
				continue
			}
			for _, key := range b.Keys {
				require.Emptyf(t, taken[key], "%s in %s is %s and %s", key, scope, taken[key], b.Action)
				taken[key] = b.Action
			}
		}
	}
}

func TestEveryBindingIsExplained(t *testing.T) {
	t.Parallel()
	for _, b := range keymap.Default() {
		require.NotEmpty(t, b.Keys, b.Action)
		require.NotEmpty(t, b.Help, b.Action)
		require.NotEmpty(t, b.Scopes, b.Action)
	}
}

func TestEveryPlaceCanBeLeft(t *testing.T) {
	t.Parallel()
	for _, scope := range scopes {
		_, found := keymap.Default().Find(scope, "ctrl+c")
		require.True(t, found, scope)
		_, found = keymap.Default().Find(scope, "esc")
		require.True(t, found, scope)
	}
}

func TestFindPrefersNothingOverAnotherPlace(t *testing.T) {
	t.Parallel()
	b, found := keymap.Default().Find(keymap.Log, "w")
	require.True(t, found)
	require.Equal(t, keymap.Wrap, b.Action)
	_, found = keymap.Default().Find(keymap.Applications, "w")
	require.False(t, found)
	_, found = keymap.Default().Find(keymap.QuitDialog, "a")
	require.False(t, found, "keys of panes do not reach through a dialog")
}

func TestTheFooterLeavesOutWhatDoesNothing(t *testing.T) {
	t.Parallel()
	has := func(reasons keymap.Reasons) bool {
		for _, b := range keymap.Default().Footer(keymap.Deployment, reasons) {
			if b.Action == keymap.Approve {
				return true
			}
		}
		return false
	}
	require.True(t, has(nil))
	require.False(t, has(keymap.Reasons{keymap.Approve: "the stage waits for no one"}))
	require.Equal(t, keymap.Help, keymap.Default().Footer(keymap.Log, nil)[0].Action)
}

func TestHelpHasEveryBindingOnceAndThoseOfThePaneFirst(t *testing.T) {
	t.Parallel()
	for scope, first := range map[keymap.Scope]string{keymap.Deployment: "Graph", keymap.Log: "Log",
		keymap.History: "Lists", keymap.Startup: "While the environment starts", keymap.HelpOverlay: "Help"} {
		groups := keymap.Default().Help(scope)
		require.Equal(t, first, groups[0].Name)
		shown := 0
		for _, group := range groups {
			shown += len(group.Bindings)
		}
		require.Len(t, keymap.Default(), shown, scope)
	}
}

func TestNoLetterActsWhileTextIsTyped(t *testing.T) {
	t.Parallel()
	for _, b := range keymap.Default() {
		for _, key := range b.Keys {
			typed := utf8.RuneCountInString(key) == 1 || key == "space"
			require.Falsef(t, typed && (b.In(keymap.Typing) || b.In(keymap.PaletteOverlay)), "%s is %s", key, b.Action)
		}
	}
}

func TestKIsOnlyUpAndJOnlyDown(t *testing.T) {
	t.Parallel()
	for _, b := range keymap.Default() {
		require.Equal(t, b.Action == keymap.Up && !b.In(keymap.Typing) && !b.In(keymap.PaletteOverlay),
			slices.Contains(b.Keys, "k"), b)
		require.Equal(t, b.Action == keymap.Down && !b.In(keymap.Typing) && !b.In(keymap.PaletteOverlay),
			slices.Contains(b.Keys, "j"), b)
	}
}

func TestWhatCannotBeUndoneAsks(t *testing.T) {
	t.Parallel()
	for _, b := range keymap.Default() {
		switch b.Action {
		case keymap.Sync, keymap.Skip, keymap.Cancel, keymap.Restart, keymap.Retry, keymap.Rollback, keymap.Quit:
			require.True(t, b.Asks, b.Action)
		}
	}
}
