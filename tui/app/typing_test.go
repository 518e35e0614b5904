// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestNoKeyActsAfterASlashWhereverItIsTyped(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ keys, sees, overlay string }{
		"applications":        {"1", "/search", ""},
		"deployment":          {"2", "/search", ""},
		"log":                 {"3", "/search", ""},
		"plugins":             {"4", "/search", ""},
		"environment":         {"e", "/search", ""},
		"history":             {"d", "/search", ""},
		"resources":           {"t", "/search", ""},
		"help":                {"?", "/search", "Keys"},
		"cancel dialog":       {"c", "no search here: press esc to use the keys again", "Cancel the deployment of"},
		"confirmation":        {"s", "no search here: press esc to use the keys again", "Deploy the newest commit of"},
		"the dialog of leave": {"q", "no search here: press esc to use the keys again", "Leave pipedeck"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := decktest.Start(t)
			server.Publish(decktest.Running()...)
			s := play(t, dial(t, server), 80, 24, seams{})
			s.seesText("press a to approve")
			s.types(c.keys)
			s.types("/search")
			s.seesText(c.sees)
			for key := ' '; key <= '~'; key++ {
				s.types(string(key))
			}
			s.types("\t\x1b[A\x1b[B\x1b[C\x1b[D") // tab and the arrows
			s.types("\x1b")
			s.losesText("You are typing")
			s.losesText(c.sees)
			require.Empty(t, server.Calls, "nothing was started, approved or cancelled")
			if c.overlay != "" {
				s.seesText(c.overlay)
				s.types("\x1b")
				s.losesText(c.overlay)
			}
			s.types("2")
			s.seesText("press a to approve")
			s.types("a")
			require.IsType(t, &deckv1.ApproveStageRequest{}, call(t, server))
			s.seesText("approved WAIT_APPROVAL")
		})
	}
}

func TestNoKeyActsAfterASlashWhileTheEnvironmentStarts(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(starting()...)
	s := play(t, dial(t, server), 80, 24, seams{})
	s.seesText("Kubernetes", "55%")
	s.types("/quity")
	s.seesText("/quity", "No match for", "You are typing")
	server.Publish(decktest.Running()...)
	s.seesText("◆ hello-world", "/quity", "You are typing")
	s.types("s\r")
	s.losesText("You are typing")
	s.types("a")
	require.IsType(t, &deckv1.ApproveStageRequest{}, call(t, server), "the first call")
}

func TestASearchThatIsTypedGoesOnWhenTheNextStageBegins(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	s := play(t, dial(t, server), 130, 24, seams{})
	s.seesText("press a to approve")
	s.types("/sea")
	s.seesText("/sea")
	server.Log("s4", deckv1.Severity_SEVERITY_INFO, "now the primary")
	server.Publish(afterApproval())
	s.seesText("1 stage on", "/sea")
	s.types("rch")
	s.seesText("/search")
	s.types("\x1b")
	s.losesText("/search")
	s.seesText("now the primary")
	s.types("sy")
	require.IsType(t, &deckv1.SyncApplicationRequest{}, call(t, server), "the first call")
}

func TestAStageWithNamedApproversIsApprovedAsOneOfThem(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	d := decktest.Canary()
	d.Stages[2].Approvers = []string{"alice", "bob"}
	server.Publish(d)
	s := play(t, dial(t, server), 100, 24, seams{})
	s.seesText("press a as alice or")
	s.types("a")
	s.seesText("Approve WAIT_APPROVAL as", "needs an approval of one of these", "that ada gave")
	s.types("3") // there is no third
	s.types("\x1b")
	s.losesText("needs an approval of one of these")
	s.types("a")
	s.types("2")
	request := call(t, server).(*deckv1.ApproveStageRequest)
	require.Equal(t, "bob", request.GetCommander())
	require.Equal(t, "ada", request.GetUser())
	s.seesText("approved WAIT_APPROVAL of hello-world as bob")
	s.types("a")
	s.types("\r") // no is preselected
	s.losesText("needs an approval of one of these")
	s.types("a")
	s.types("kk\r")
	require.Equal(t, "alice", call(t, server).(*deckv1.ApproveStageRequest).GetCommander())

	d.Stages[2].Approvers = []string{"alice", "ada"}
	server.Publish(d)
	s.seesText("press a as alice or ada")
	s.types("a")
	require.Equal(t, "ada", call(t, server).(*deckv1.ApproveStageRequest).GetCommander(), "the user is an approver")
}
