// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/logbuf"
)

// afterApproval is the deployment of decktest.Canary when its approval stage has ended and the next one runs.
func afterApproval() *deckv1.Deployment {
	d := decktest.Canary()
	d.Stages[2].Status, d.Stages[2].CompletedAt = deckv1.StageStatus_STAGE_STATUS_SUCCESS, decktest.At(19)
	d.Stages[2].CanApprove, d.Stages[2].CanSkip = false, false
	d.Stages[3].Status, d.Stages[3].StartedAt = deckv1.StageStatus_STAGE_STATUS_RUNNING, decktest.At(20)
	return d
}

// newer is a deployment that starts after decktest.Canary.
func newer() *deckv1.Deployment {
	d := decktest.Canary()
	d.Id, d.CreatedAt = "dep-2", decktest.At(40)
	return d
}

func numbers(n int) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("number %03d", i))
	}
	return all
}

func TestReadingALogIsNotDisturbedByWhatHappens(t *testing.T) {
	t.Parallel()
	for name, back := range map[string]string{"f": "f", "esc": "\x1b"} {
		t.Run(name+" follows again", func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			server.Publish(decktest.Running()...)
			server.Log("s3", deckv1.Severity_SEVERITY_INFO, numbers(200)...)
			server.Log("s4", deckv1.Severity_SEVERITY_INFO, "now the primary")
			s := play(t, dial(t, server), 130, 24, seams{})
			s.seesText("number 199", "200 lines · following")
			s.types("3kkk")
			s.seesText("number 196", "of 200 · pinned")
			s.losesText("number 197")

			server.Log("s3", deckv1.Severity_SEVERITY_INFO, "more of this stage", "and more")
			s.seesText("number 196", "pinned · 2 new below")
			server.CompleteLog("s3")
			server.Publish(afterApproval())
			s.seesText("number 196", "complete · pinned · 2 new below · 1 stage on")
			server.Publish(newer())
			s.seesText("number 196", "a newer deployment")

			s.types("G")
			s.seesText("and more", "pinned · a newer deployment")
			s.types(back)
			s.losesText("a newer deployment")
			s.seesText("following")
			require.Empty(t, server.Calls)
		})
	}
}

func TestASearchPinsTheLogInWhichItIsTyped(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	server.Log("s3", deckv1.Severity_SEVERITY_INFO, numbers(200)...)
	server.Log("s4", deckv1.Severity_SEVERITY_INFO, "now the primary")
	s := play(t, dial(t, server), 130, 24, seams{})
	s.seesText("number 199", "following")
	s.types("3/number 15")
	s.seesText("/number 15", "number 19")
	server.Publish(afterApproval())
	s.seesText("/number 15", "pinned", "1 stage on", "number 19")
	s.types("\x1b") // drops the search: what it pinned is free again
	s.seesText("now the primary", "following")
}

func TestALogThatIsReadStaysInPlaceWhenTheConnectionComesBack(t *testing.T) {
	t.Parallel()
	m := waiting(t, 100, 30)
	m.hear(logbuf.Info, numbers(200)...)
	m.View() // scrolling depends on the size
	m.key("3", "g", "down", "down")
	first := func() int { return m.panes.log.view.Place() }
	require.Equal(t, 2, first())
	former := m.panes.log.reader
	m.see(decktest.Running()...)
	require.NotSame(t, former, m.panes.log.reader, "it is read again")
	m.hear(logbuf.Info, numbers(200)...)
	require.Equal(t, 2, first())
	require.Contains(t, ansi.Strip(m.View().Content), "pinned")
}

func TestAChoiceAmongStagesStaysWhenANewerDeploymentBegins(t *testing.T) {
	t.Parallel()
	m := waiting(t, 130, 30)
	m.key("up")
	require.Equal(t, "WAIT", m.chosen.stage().GetName())
	require.Contains(t, ansi.Strip(m.View().Content), "stage pinned")
	m.receive(newer())
	require.Equal(t, "dep-1", m.chosen.deployment().GetId())
	require.Equal(t, "WAIT", m.chosen.stage().GetName())
	require.Contains(t, ansi.Strip(m.View().Content), "a newer deployment")
	m.key("esc")
	require.Equal(t, "dep-2", m.chosen.deployment().GetId())
	require.Equal(t, "WAIT_APPROVAL", m.chosen.stage().GetName())
	require.NotContains(t, ansi.Strip(m.View().Content), "pinned")
}
