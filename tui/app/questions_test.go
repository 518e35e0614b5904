// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

func TestCommandsOfDialogsFindTheEnvironment(t *testing.T) {
	t.Parallel()
	a := &actions{host: &host{cfg: Config{Name: "demo", Flags: " --name demo --state-dir /s"}}}
	require.Equal(t, "pipedeck skip 'my app' WAIT --name demo --state-dir /s",
		a.command([]string{"skip", "my app", "WAIT"}))
}

func TestAStageIsCalledByItsIDInQuestionsAndCommands(t *testing.T) {
	t.Parallel()
	m := waiting(t, 100, 30)
	d := decktest.Canary()
	d.Stages[2].ConfigId = "gate"
	m.receive(d)
	require.Equal(t, "pipedeck approve hello-world gate", m.actions.same(keymap.Approve))
	m.key("S")
	require.Contains(t, m.View().Content, "Skip gate?")
	m.key("esc", "up", "a")
	require.Contains(t, m.toast.text, "select gate first")
}
