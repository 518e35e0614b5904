// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

func TestTheSelectionFollowsWhatMattersMost(t *testing.T) {
	t.Parallel()
	m := waiting(t, 80, 24)
	require.Equal(t, "WAIT_APPROVAL", m.chosen.stage().GetName())

	d := decktest.Failed()
	d.Status = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_ROLLING_BACK
	d.Stages[5].Status = deckv1.StageStatus_STAGE_STATUS_RUNNING
	m.receive(d)
	require.Equal(t, "K8S_ROLLBACK", m.chosen.stage().GetName(), "what runs comes before what failed")
	m.receive(decktest.Failed())
	require.Equal(t, "K8S_PRIMARY_ROLLOUT", m.chosen.stage().GetName(), "what failed comes before what ended well")

	for _, s := range d.Stages {
		s.Status, s.StartedAt = deckv1.StageStatus_STAGE_STATUS_SUCCESS, decktest.At(1)
	}
	d.Stages[5].Status, d.Stages[5].StartedAt = deckv1.StageStatus_STAGE_STATUS_NOT_STARTED, nil
	m.receive(d)
	require.Equal(t, "K8S_CANARY_CLEAN", m.chosen.stage().GetName(), "the last that ran")
}

func TestADeploymentThatWaitsForApprovalIsNotHiddenByACommitAfterIt(t *testing.T) {
	t.Parallel()
	m := waiting(t, 100, 30)
	queued := decktest.Canary()
	queued.Id, queued.Status, queued.Stages = "dep-2", deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING, nil
	queued.CreatedAt = decktest.At(41)
	m.receive(queued)
	require.Equal(t, "dep-1", m.chosen.deployment().GetId(), "the later one waits for it")
	require.Equal(t, "WAIT_APPROVAL", m.chosen.stage().GetName())
	require.Empty(t, m.actions.reasons()[keymap.Approve])
	require.Contains(t, m.exact(t, "queued", 100, 30), "press a to approve")

	m.receive(decktest.Failed()) // dep-1 has ended
	require.Equal(t, "dep-2", m.chosen.deployment().GetId())
}

func TestAStageChosenByHandStaysUntilEsc(t *testing.T) {
	t.Parallel()
	m := waiting(t, 80, 24)
	m.key("up")
	require.Equal(t, "WAIT", m.chosen.stage().GetName())
	m.receive(decktest.Canary())
	require.Equal(t, "WAIT", m.chosen.stage().GetName())
	m.key("esc")
	require.Equal(t, "WAIT_APPROVAL", m.chosen.stage().GetName())
}

func TestANewDeploymentOfAnotherApplicationIsShownUnlessOneWasChosen(t *testing.T) {
	t.Parallel()
	for _, chosen := range []bool{false, true} {
		m := waiting(t, 80, 24)
		m.receive(decktest.Failed())
		if chosen {
			m.key("1", "up")
		}
		app, d := decktest.Application(), decktest.Canary()
		app.Id, app.Name = "app-2", "other"
		d.Id, d.ApplicationId, d.ApplicationName, d.CreatedAt = "dep-9", "app-2", "other", decktest.At(41)
		m.receive(app, d)
		want := "other"
		if chosen {
			want = "hello-world"
		}
		require.Equal(t, want, m.chosen.application().GetName())
	}
}

func TestTheHistoryShowsAnEarlierDeployment(t *testing.T) {
	t.Parallel()
	m := withHistory(t)
	m.key("enter")
	require.Equal(t, "dep-0", m.chosen.deployment().GetId())
	require.Equal(t, keymap.Deployment, m.screen.focus)
	m.key("a")
	require.Contains(t, m.toast.text, "does not wait for approval")
	m.key("esc")
	require.Equal(t, "dep-1", m.chosen.deployment().GetId())
}

func TestTheLogOfAnotherStageReplacesTheFormer(t *testing.T) {
	t.Parallel()
	m := waiting(t, 80, 24)
	former := m.panes.log.reader
	m.key("up")
	require.NotSame(t, former, m.panes.log.reader)
	require.Error(t, former.ctx.Err(), "its stream has ended")
	m.Update(logMsg{log: former, complete: true})
	require.False(t, m.panes.log.view.Complete, "late news of the former do not count")
	m.key("down", "down")
	require.Nil(t, m.panes.log.reader, "a stage that has not started has no log")
	require.Equal(t, "The stage has not started.", m.panes.log.view.Waiting)
}

func TestAStageThatRunsAgainHasItsLogReadAgain(t *testing.T) {
	t.Parallel()
	m := waiting(t, 80, 24)
	former := m.panes.log.reader
	m.Update(logMsg{log: former, complete: true})
	again := decktest.Canary()
	again.Stages[2].Retries = 1
	m.receive(again)
	require.NotSame(t, former, m.panes.log.reader)
}

func TestTheClockTicksOnlyAsOftenAsSomethingGrows(t *testing.T) {
	t.Parallel()
	m := still(t)
	require.Equal(t, spinTick, m.pace(), "before anything is known the spinner turns")
	m.size(80, 24)
	m.see(starting()...)
	require.Equal(t, spinTick, m.pace())
	m = waiting(t, 80, 24)
	require.Equal(t, time.Second, m.pace())
	require.Nil(t, m.ticker.keep(m.pace()), "one tick is under way already")
	m.receive(decktest.Failed())
	require.Equal(t, time.Minute, m.pace())
	m.Update(tickMsg{number: m.ticker.number})
	require.Equal(t, time.Minute, m.ticker.pace)
	m.receive(decktest.Canary())
	require.Equal(t, time.Second, m.ticker.pace, "a faster tick does not wait for a slower one")
	number := m.ticker.number
	m.Update(tickMsg{number: number - 1})
	require.Equal(t, number, m.ticker.number, "and the slower one is ignored")
}

func TestKeysOfTheSearchAreNotKeysOfTheScreen(t *testing.T) {
	t.Parallel()
	m := waiting(t, 80, 24)
	m.key("3", "/", "q", "a", "backspace")
	require.Equal(t, "q", m.typing().query)
	require.Nil(t, m.overlays.top())
	m.key("backspace", "backspace")
	require.NotNil(t, m.typing(), "only esc and enter end the line")
	m.key("esc")
	require.Nil(t, m.typing())
	m.key("n")
	require.Contains(t, m.panes.log.view.Search.Notice, "press / first")
}

func TestEveryPaneIsReachedByTabAndByNumber(t *testing.T) {
	t.Parallel()
	m := waiting(t, 80, 24)
	for _, want := range []keymap.Scope{keymap.Log, keymap.Plugins, keymap.Applications, keymap.Deployment} {
		m.key("tab")
		require.Equal(t, want, m.screen.focus)
	}
	for key, want := range map[string]keymap.Scope{
		"1": keymap.Applications, "2": keymap.Deployment, "3": keymap.Log, "4": keymap.Plugins, "e": keymap.Environment,
		"d": keymap.History,
	} {
		m.key("2", key)
		require.Equal(t, want, m.screen.focus)
	}
	m.key("2", "d")
	require.Equal(t, keymap.History, m.screen.focus)
	m.key("d")
	require.Equal(t, keymap.Deployment, m.screen.focus, "the key that opens closes")
}
