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

func TestCommandsOfStagesOfOneTypeNameTheSelectedStage(t *testing.T) {
	t.Parallel()
	m := waiting(t, 120, 40)
	d := decktest.Canary()
	other := d.Stages[1]
	other.Name, other.Status, other.CanApprove = "WAIT_APPROVAL", d.Stages[2].Status, true
	m.receive(d)
	m.chosen.pinStage("s3")
	require.Equal(t, "pipedeck approve hello-world s3", m.actions.same(keymap.Approve))
	require.Equal(t, "pipedeck skip hello-world WAIT_APPROVAL", m.actions.same(keymap.Skip), "only one can be skipped")
	m.key("i")
	require.Contains(t, m.View().Content, "pipedeck logs hello-world --stage s3")

	named := decktest.Canary()
	named.Stages[1].Name, named.Stages[1].ConfigId, named.Stages[2].ConfigId = "WAIT_APPROVAL", "security", "legal"
	m.receive(named)
	require.Contains(t, m.View().Content, "pipedeck logs hello-world --stage legal")
}
