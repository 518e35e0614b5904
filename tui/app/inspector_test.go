// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

func TestTheInspectorStaysOnItsStage(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 120, 40, seams{})
	s.seesText("press a to approve")
	s.types("i")
	s.seesText("Stage WAIT_APPROVAL", "id          s3", "waits for approval", "needs", "feeds",
		"Earlier runs of this stage", "waitapproval", "pipedeck logs hello-world --stage WAIT_APPROVAL")

	server.Publish(decktest.Failed()) // the stage ends, others run and fail
	s.seesText("Stage WAIT_APPROVAL", "Approved by: ada", "ended")
	s.types("\r")
	s.seesText("2 Deployment", "WAIT_APPROVAL")
	s.types("i")
	s.seesText("Stage WAIT_APPROVAL", "Approved by: ada")
	s.types("i")
	s.seesText("2 Deployment")
}

func TestTheInspectorShowsEarlierRunsAndTheProcessOfThePlugin(t *testing.T) {
	t.Parallel()
	m := still(t)
	m.size(120, 40)
	m.see(decktest.Running()...)
	earlier := decktest.Failed()
	earlier.Id, earlier.Commit = "dep-0", &deckv1.Commit{Hash: "3f2a1c9b0a7d"}
	earlier.CreatedAt = decktest.At(-600)
	failed := decktest.Failed()
	primary := failed.GetStages()[3]
	primary.Retries = 1
	primary.Targets = []*deckv1.StageTarget{
		{Name: "eu", Status: deckv1.StageStatus_STAGE_STATUS_SUCCESS},
		{Name: "us", Status: deckv1.StageStatus_STAGE_STATUS_FAILURE, Detail: "1 of 4 pods ready"},
	}
	m.receive(earlier, failed)
	m.chosen.pinStage(primary.GetId())
	m.key("i")
	m.shows(t, "inspector-120x40")

	m.size(80, 24)
	m.View() // knows how many lines fit
	m.key("G")
	m.shows(t, "inspector-80x24")
	m.key("/", "p", "i", "d")
	require.Contains(t, m.View().Content, "pid")
	require.NotContains(t, m.View().Content, "Earlier runs")
}

func TestTheInspectorWithoutAStageSaysHowToChooseOne(t *testing.T) {
	t.Parallel()
	m := still(t)
	m.size(80, 24)
	m.see(decktest.Environment(), decktest.Component(0, "Preflight", "9 checks passed"), decktest.Application())
	m.screen.enterMain()
	m.key("i")
	require.Equal(t, keymap.Inspector, m.screen.focus)
	require.Contains(t, m.View().Content, "No stage is selected")
	m.key("esc")
	require.Equal(t, keymap.Deployment, m.screen.focus)
}
