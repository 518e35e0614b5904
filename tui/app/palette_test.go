// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

func TestThePaletteRunsTheChosenAction(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 100, 30, seams{})
	s.seesText("press a to approve")
	s.types(":approve")
	s.seesText("Actions", ":approve", "Approve the selected stage", "nothing runs before enter")
	require.Empty(t, server.Calls)
	s.types("\r")
	require.Equal(t, "s3", call(t, server).(*deckv1.ApproveStageRequest).GetStageId())
	s.seesText("approved WAIT_APPROVAL")
	s.losesText("Actions")

	s.types("\x10newest commit\r") // ctrl+p
	s.seesText("Deploy the newest commit of hello-world?")
	s.types("\x1b")
	s.losesText("Deploy the newest commit of hello-world?")

	s.types(":restart")
	s.seesText("not now: select a plugin first: 4")
	s.types("\r")
	s.seesText("cannot restart the plugin: select a plugin first: 4")

	s.types(":no such thing")
	s.seesText("No action matches", "0 of")
	s.types("\r")
	s.types("\x15log of\r")
	s.losesText("Actions")
	s.types("/typed in the log")
	s.seesText("/typed in the log")
	s.types("\x03")
	outcome, err := s.ends()
	require.NoError(t, err)
	require.Equal(t, LeaveRunning, outcome)
	require.Empty(t, server.Calls)
}

func TestThePaletteHasEveryActionWithItsKeyOrTheWholeReason(t *testing.T) {
	t.Parallel()
	for _, focus := range []string{"1", "2", "3", "4", "e", "d", "t"} {
		m := waiting(t, 80, 24)
		m.key(focus, ":")
		p := m.overlays.top().(*palette)
		listed := map[keymap.Action]bool{}
		for _, entry := range p.entries() {
			listed[entry.Action] = true
		}
		for _, b := range keymap.Default() {
			if b.Runs() {
				require.True(t, listed[b.Action], b.Action)
			}
		}
		require.False(t, listed[keymap.Up])
		require.False(t, listed[keymap.Yes])
		seen := ""
		for range p.entries() {
			seen += ansi.Strip(p.draw(80, 24))
			m.key("down")
		}
		seen = strings.Join(strings.Fields(strings.NewReplacer("│", " ", "┃", " ").Replace(seen)), " ")
		for _, entry := range p.all() {
			require.Contains(t, seen, entry.Title)
			require.Contains(t, seen, entry.Reason)
		}
		require.NotContains(t, seen, "…", "nothing is cut")
	}
}

func TestTheHelpBeginsWithThePaneAndScrollsToItsEnd(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 80, 24, seams{})
	s.seesText("press a to approve")
	s.types("3?")
	s.seesText("Keys · log first", "a line up", "more below")
	s.types("G")
	s.seesText("Help", "find a key")
	s.losesText("more below")
	s.types("g")
	s.seesText("a line up")
	s.types("\x1b[6~")
	s.losesText("a line up")
	s.types("/skip the")
	s.seesText("/skip the", "skip the selected stage")
	s.losesText("deploy the newest commit")
	s.types("\x1b")
	s.losesText("/skip the")
	s.types("\x1b")
	s.losesText("Keys")
	s.types("4?")
	s.seesText("Keys · lists first", "wrap long lines of the output")
	s.types("?")
	s.losesText("Keys")
	require.Empty(t, server.Calls)
}

func TestNothingInTheHelpIsCut(t *testing.T) {
	t.Parallel()
	for _, width := range []int{80, 100, 200} {
		m := waiting(t, width, 24)
		m.key("4", "?")
		h := m.overlays.top().(*help)
		seen := ""
		for top := -1; h.top > top; {
			top = h.top
			for _, line := range strings.Split(ansi.Strip(h.draw(width, 24)), "\n")[1:] {
				require.NotContains(t, line, "…")
				seen += line + "\n"
			}
			m.key("pgdown")
		}
		words := strings.Join(strings.Fields(strings.NewReplacer("│", " ", "┃", " ").Replace(seen)), " ")
		for _, b := range keymap.Default() {
			require.Contains(t, words, b.Help)
		}
	}
}

func TestTheSafeAnswerIsPreselected(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys, asks, command string
		want                proto.Message
	}{
		"sync": {"s", "Deploy the newest commit of hello-world?", "pipedeck sync hello-world",
			&deckv1.SyncApplicationRequest{}},
		"skip": {"S", "Skip WAIT_APPROVAL?", "pipedeck skip hello-world WAIT_APPROVAL",
			&deckv1.SkipStageRequest{}},
		"restart": {"4r", "Restart kubernetes?", "pipedeck restart kubernetes", &deckv1.RestartPluginRequest{}},
		"cancel":  {"c", "Cancel the deployment of hello-world?", "", &deckv1.CancelDeploymentRequest{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			server.Publish(decktest.Running()...)
			s := play(t, dial(t, server), 80, 24, seams{})
			s.seesText("press a to approve")
			for _, no := range []string{"\r", "n", "\x1b", "q"} {
				s.types(c.keys)
				s.seesText(c.asks, c.command)
				s.types(no)
				s.losesText(c.asks)
			}
			require.Empty(t, server.Calls)
			s.types(c.keys)
			s.seesText(c.asks)
			s.types("y")
			require.IsType(t, c.want, call(t, server))
			require.Empty(t, server.Calls, "once")
		})
	}
}

func TestAnAnswerIsForWhatWasAskedAbout(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 100, 30, seams{})
	s.seesText("press a to approve")
	s.types("S")
	s.seesText("Skip WAIT_APPROVAL?")
	next := decktest.Canary()
	next.Stages[2].Status = deckv1.StageStatus_STAGE_STATUS_SUCCESS
	next.Stages[3].Status, next.Stages[3].CanSkip = deckv1.StageStatus_STAGE_STATUS_RUNNING, true
	server.Log("s4", deckv1.Severity_SEVERITY_INFO, "now the primary")
	server.Publish(next)
	s.seesText("3/5")
	s.types("y")
	require.Equal(t, "s3", call(t, server).(*deckv1.SkipStageRequest).GetStageId())
}

func TestThePaletteSaysWhatTheStartUpStepsLeaveOut(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(starting()...)
	s := play(t, dial(t, server), 100, 30, seams{})
	s.seesText("55%")
	s.types(":approve")
	s.seesText("Approve the selected stage", "not now: the environment starts; enter shows the main screen")
	s.types("\r")
	s.seesText("cannot approve the selected stage: the environment starts")
	s.types(":leave\r")
	s.seesText("Leave pipedeck")
	s.types("y")
	outcome, err := s.ends()
	require.NoError(t, err)
	require.Equal(t, LeaveRunning, outcome)
}
