// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/view"
)

// releasing is a screen in the middle of a deployment of 30 stages.
func releasing(t *testing.T, width, height int, environ ...string) *model {
	t.Helper()
	m := waiting(t, width, height, environ...)
	m.receive(decktest.Release())
	require.Equal(t, "dep-release", m.chosen.deployment().GetId())
	return m
}

func TestTheGraphIsDrawnInBoxesWhereItFitsAndInLanesElse(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		width, height int
		want          view.Form
	}{{80, 24, view.Lanes}, {100, 30, view.Boxes}} {
		m := parallel(t)
		m.size(c.width, c.height)
		_ = m.View()
		require.Equalf(t, c.want, m.panes.deployment.graph().Form, "%dx%d", c.width, c.height)
	}
}

func TestBoxesThatFitHaveNoMap(t *testing.T) {
	t.Parallel()
	m := parallel(t)
	d := m.chosen.deployment()
	d.Stages = append(d.Stages, &deckv1.Stage{Id: "undo", Name: "UNDO", Rollback: true, Index: 9,
		Status: deckv1.StageStatus_STAGE_STATUS_NOT_STARTED})
	m.size(120, 40)
	screen := ansi.Strip(m.View().Content)
	require.Contains(t, screen, "5 stages · boxes")
	require.Contains(t, screen, "↺ on failure: UNDO")
	require.NotContains(t, screen, "█")
	m.key("2", "G")
	screen = ansi.Strip(m.View().Content)
	require.Contains(t, screen, "↺ on failure: UNDO", "it stays in its place when the last stage is selected")
	require.Contains(t, screen, "│ ✓ SCRIPT_RUN")
}

func TestAStageAloneIsALane(t *testing.T) {
	t.Parallel()
	m := waiting(t, 120, 40)
	d := decktest.Canary()
	d.Stages = d.Stages[2:3]
	d.Stages[0].Requires = nil
	m.receive(d)
	require.Contains(t, ansi.Strip(m.View().Content), "1 stage · lanes")
}

func TestTheFormIsKeptForTheApplication(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	other, deployment := decktest.Application(), decktest.Release()
	other.Id, other.Name, deployment.ApplicationId, deployment.ApplicationName = "app-2", "other", "app-2", "other"
	server.Publish(other, deployment)
	s := play(t, dial(t, server), 120, 40, seams{})
	s.seesText("hello-world", "5 stages · lanes")
	s.types("1j")
	s.seesText("30 stages · lanes")
	s.types("2v")
	s.seesText("30 stages · boxes", "╭───")
	s.types("1k")
	s.seesText("5 stages · lanes")
	s.types("j")
	s.seesText("30 stages · boxes")
	s.types("2v")
	s.seesText("30 stages · lanes")
	require.Empty(t, server.Calls)
}

func TestApprovalsSoFarStandInTheGraph(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	d := decktest.Canary()
	gate := d.GetStages()[2]
	gate.ConfigId, gate.ApprovalsNeeded, gate.ApprovedBy, gate.Approvers = "gate", 2, []string{"alice"}, []string{"ada"}
	server.Publish(append(decktest.Running(), d)...)
	s := play(t, dial(t, server), 120, 40, seams{})
	s.seesText("◆  gate", "1 of 2: alice; press a as ada", "3 Log · gate")
	s.types("a")
	require.Equal(t, "s3", call(t, server).(*deckv1.ApproveStageRequest).GetStageId())
}

func TestArrowsMoveAlongTheEdgesAndStayInTheGraph(t *testing.T) {
	t.Parallel()
	m := releasing(t, 120, 40)
	_ = m.View()
	at := func() string { return m.chosen.stageID }
	require.Equal(t, "eu-canary", at())
	m.key("h")
	require.Equal(t, "gate", at())
	m.key("l")
	require.Equal(t, "eu-canary", at(), "back to where it came from")
	m.key("G")
	require.Equal(t, "eu-canary", at(), "the last are folded")
	m.key("l")
	require.Contains(t, m.toast.text, "no stage follows")
	m.key("F", "G")
	require.Equal(t, "announce", at())
	m.key("g")
	require.Equal(t, "plan", at())
	m.key("left")
	require.Equal(t, "plan", at())
	require.Equal(t, m.panes.of(m.screen.focus), pane(m.panes.deployment), "the focus stays")
	require.Contains(t, m.toast.text, "needs no stage")
	m.key("pgdown")
	require.NotContains(t, []string{"plan", "eu-build", "eu-unit"}, at(), "a page is more than a step")
	m.key("pgup")
	require.Equal(t, "plan", at())
	m.key("j")
	require.Equal(t, "eu-build", at())
	m.key("f")
	require.Equal(t, "eu-canary", at(), "back to the stage that runs")
}

func TestStagesThatHaveEndedAreFoldedWhereNotAllHaveRoom(t *testing.T) {
	t.Parallel()
	m := releasing(t, 120, 40)
	screen := func() string { return ansi.Strip(m.View().Content) }
	require.Contains(t, screen(), "13 done ▸")
	require.Contains(t, screen(), "gate", "the last that ended stays")
	require.NotContains(t, screen(), "eu-unit")
	m.key("k", "k")
	require.Equal(t, "gate", m.chosen.stageID, "on a fold, the stage before stays selected")
	m.key("enter")
	require.Contains(t, screen(), "eu-unit", "enter unfolds")
	require.Equal(t, "plan", m.chosen.stageID)
	m.key("F", "F")
	require.Contains(t, screen(), "▌✓      13 done ▸", "the cursor is on the fold")
	require.Equal(t, "plan", m.chosen.stageID)
	m.key("F")
	require.NotContains(t, screen(), "done ▸")
	m.size(120, 60)
	m.key("F")
	require.NotContains(t, screen(), "done ▸", "all have room")
}

// Whatever ends, no stage that stays on the screen loses its selection.
func TestTheSelectionStaysWhileFoldsComeAndGo(t *testing.T) {
	t.Parallel()
	m := releasing(t, 100, 30)
	_ = m.View()
	m.key("k") // gate
	require.Equal(t, "gate", m.chosen.stageID)
	d := decktest.Release()
	for _, stage := range d.GetStages() {
		stage.Status, stage.StartedAt = deckv1.StageStatus_STAGE_STATUS_SUCCESS, decktest.At(1)
		m.receive(d)
		require.Equal(t, "gate", m.chosen.stageID)
		require.Contains(t, ansi.Strip(m.View().Content), "▌✓", "after %s", stage.GetId())
	}
}
