// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

func waitingFor(answered int32) *deckv1.PlanPreviewResponse {
	return &deckv1.PlanPreviewResponse{Kind: &deckv1.PlanPreviewResponse_Progress{
		Progress: &deckv1.PlanPreviewProgress{Asked: 1, Answered: answered}}}
}

func TestABranchIsChosenAndPreviewed(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Shop()...)
	server.Branches(decktest.ExampleBranches()...)
	server.Preview("feature/mail-v8", nil, waitingFor(0), decktest.ExamplePreview())
	s := play(t, dial(t, server), 120, 40, seams{})
	s.seesText("deploy-eu")
	s.types("P")
	s.seesText("choose a branch", "feature/mail-v8", "origin/cleanup", "watched: nothing to merge", "branch:")
	s.types("mail")
	s.losesText("origin/cleanup")
	require.Empty(t, server.Calls, "letters that are typed do nothing else")
	s.types("\r")
	require.Equal(t, "feature/mail-v8", call(t, server).(*deckv1.PreviewBranchRequest).GetBranch())
	s.seesText("Plan preview of feature/mail-v8", "Merging feature/mail-v8 (0c5ec8e) into main concerns 2 applications",
		"PIPELINE  Sync progressively", "-      - image: mail:v7", "+      - image: mail:v8", "website  apps/website")
	s.types("\x1b")
	s.seesText("choose a branch")
	require.Empty(t, server.Calls)
}

func TestNoStageIsApprovedWhilePreviewsHideIt(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	server.Branches(decktest.ExampleBranches()...)
	server.Preview("feature/mail-v8", nil, decktest.ExamplePreview())
	s := play(t, dial(t, server), 120, 40, seams{})
	s.seesText("press a to approve")
	s.types("Pmail\r")
	s.seesText("Plan preview of feature/mail-v8")
	_ = call(t, server)
	s.types("\x1b")
	s.seesText("choose a branch")
	for _, key := range []string{"a", "S", "c", "s"} { // as if the name of a branch was typed
		s.types(key)
		s.seesText("the screen shows the plan preview; 2 shows the deployment")
		s.types("j")
		s.losesText("shows the deployment")
	}
	s.types("2")
	s.seesText("press a to approve")
	s.types("I")
	s.seesText("Insights")
	s.types("a")
	s.seesText("the screen shows the insights; 2 shows the deployment")
	require.Empty(t, server.Calls)
}

func TestAPreviewThatFailsSaysWhy(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Shop()...)
	server.Branches(decktest.ExampleBranches()...)
	server.Preview("origin/cleanup", status.Error(codes.DeadlineExceeded, "piped did not answer in time"),
		waitingFor(0))
	broken := decktest.ExamplePreview()
	broken.GetResult().Errors = []string{"piped p: the branches conflict in apps/mail/app.yaml\nresolve it first"}
	broken.GetResult().Applications = nil
	server.Preview("feature/mail-v8", nil, broken)
	s := play(t, dial(t, server), 100, 30, seams{})
	s.seesText("deploy-eu")
	s.types("Pcleanup\r")
	s.seesText("origin/cleanup cannot be previewed", "piped did not answer in time", "failed")
	_ = call(t, server)
	s.types("\x1b")
	s.seesText("choose a branch")
	s.types("Pmail\r")
	s.seesText("cannot be previewed", "error: piped p: the branches conflict in apps/mail/app.yaml", "resolve it first")
	_ = call(t, server)
	s.types("\x1b")
	s.seesText("choose a branch")
	s.types("Pnothing-like-it\r")
	s.seesText(`no branch matches "nothing-like-it"`)
	require.Empty(t, server.Calls)
}

func TestAPreviewUnderWayIsGivenUpByEsc(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Shop()...)
	server.Branches(decktest.ExampleBranches()...)
	server.Preview("origin/cleanup", nil, waitingFor(0)) // and nothing more
	s := play(t, dial(t, server), 100, 30, seams{})
	s.seesText("deploy-eu")
	s.types("Pcleanup\r")
	_ = call(t, server)
	s.seesText("waiting for piped", "answered. esc stops it")
	s.types("\x1b")
	s.seesText("choose a branch")
}

// previewed is a model with a preview on the screen.
func previewed(t *testing.T, width, height int, environ ...string) *model {
	t.Helper()
	m := still(t, environ...)
	m.size(width, height)
	m.see(decktest.Shop()...)
	m.key("P")
	m.Update(branchesMsg{answer: &deckv1.ListBranchesResponse{Branches: decktest.ExampleBranches()}})
	m.key("v", "8", "enter")
	m.Update(previewMsg{run: m.panes.preview.run, response: decktest.ExamplePreview()})
	m.View()
	return m
}

func TestAPreviewIsScrolledAndSearched(t *testing.T) {
	t.Parallel()
	m := previewed(t, 20, 6)
	run := m.panes.preview.run
	m.key("n")
	require.Equal(t, "mail  apps/mail", run.lines[run.hit].Text)
	m.key("n")
	require.Contains(t, run.lines[run.hit].Text, "website")
	require.Contains(t, ansi.Strip(m.View().Content), "website")
	m.key("N", "/", "M", "a", "i", "l", ":", "v", "8", "enter")
	require.Contains(t, run.lines[run.hit].Text, "mail:v8", "large and small letters are the same")
	m.key("/", "q", "q", "enter", "n")
	require.Contains(t, m.toast.text, `no hit for "qq"`)
	require.Contains(t, m.panes.preview.copied().content, "+      - image: mail:v8")
	m.key("esc", "G")
	require.Contains(t, ansi.Strip(m.View().Content), "website")
	m.key("esc", "esc", "esc") // the preview, the filter of the branches, the pane
	require.Equal(t, keymap.Deployment, m.screen.focus)
}

func TestTheCommandOfAPreviewNamesItsBranch(t *testing.T) {
	t.Parallel()
	m := previewed(t, 100, 30)
	require.Equal(t, "pipedeck plan-preview --branch feature/mail-v8", m.actions.same(keymap.ShowPreview))
}
