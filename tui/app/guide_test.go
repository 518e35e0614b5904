// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/keymap"
)

func TestTheCaptionsOfAStoryStandAboveTheKeysAndAKeyGoesOn(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	next := make(chan struct{}, 4)
	o := session{client: dial(t, server), width: 100, height: 30, saveDir: t.TempDir(),
		guide: &Guide{Next: func() { next <- struct{}{} }}}
	s := o.start(t, context.Background())
	plugins := &deckv1.CaptionFocus{Step: 1, Pane: string(keymap.Plugins)}
	server.Publish(&deckv1.Caption{Text: "Each plugin is a process.", Step: 1, Steps: 2,
		Awaits: "plugin wait RUNNING", Focus: plugins})
	s.seesText("> Each plugin is a process.", "step 1 of 2", "waits for plugin wait RUNNING")
	s.types(".x") // the first does nothing while the story waits
	s.seesText("x does nothing here", "> Each plugin is a process.")
	server.Publish(&deckv1.Caption{Text: "Each plugin is a process.", Step: 1, Steps: 2, Focus: plugins})
	s.seesText("step 1 of 2", "press . to go on", ". next")
	require.Empty(t, next)
	s.types(".")
	<-next
	server.Publish(&deckv1.Caption{Text: "The end.", Step: 2, Steps: 2,
		Focus: &deckv1.CaptionFocus{Step: 2, Pane: string(keymap.Deployment)}})
	s.seesText("> The end.", "step 2 of 2")
	s.losesText("Each plugin is a process.")
	s.types("a")
	call(t, server)
	s.seesText("> The end.") // an answer stands above the caption
	s.types("q")
	outcome, err := s.ends()
	require.NoError(t, err, "the environment ends with the story, so nothing is asked")
	require.Equal(t, LeaveRunning, outcome)
}

func TestAStoryShowsAStageOnceItHasBegun(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	o := session{client: dial(t, server), width: 100, height: 30, saveDir: t.TempDir(), guide: &Guide{}}
	s := o.start(t, context.Background())
	canary := decktest.Canary()
	server.Publish(&deckv1.Caption{Text: "All of it.", Step: 1, Steps: 3, Focus: &deckv1.CaptionFocus{Step: 1,
		Pane: string(keymap.Inspector), Application: "hello-world", Stage: "K8S_CANARY_ROLLOUT",
		Commit: canary.GetCommit().GetHash()}})
	s.seesText("Stage K8S_CANARY_ROLLOUT: ", "> All of it.")

	server.Publish(&deckv1.Caption{Text: "The next commit.", Step: 2, Steps: 3, Focus: &deckv1.CaptionFocus{Step: 2,
		Pane: string(keymap.Inspector), Application: "hello-world", Stage: "WAIT_APPROVAL", Commit: "0123456789",
		AfterDeploymentId: canary.GetId()}})
	s.seesText("> The next commit.", "Stage K8S_CANARY_ROLLOUT: ")
	next := decktest.Canary()
	next.Id, next.CreatedAt, next.Commit.Hash = "next", decktest.At(90), "0123456789"
	server.Publish(next)
	s.seesText("Stage WAIT_APPROVAL", "> The next commit.")
	s.losesText(". next") // the story goes on by itself
	s.types("q")
	_, err := s.ends()
	require.NoError(t, err)
}

// A recording may be of another version, or may have been written by another program.
func TestACaptionWithAnUnknownPaneLeavesTheFocus(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	o := session{client: dial(t, server), width: 100, height: 30, saveDir: t.TempDir(), guide: &Guide{}}
	s := o.start(t, context.Background())
	server.Publish(&deckv1.Caption{Text: "Look there.", Step: 1, Steps: 2,
		Focus: &deckv1.CaptionFocus{Step: 1, Pane: "attic"}})
	s.seesText("> Look there.", "━ 2 Deployment")
	s.types("x")
	s.seesText("x does nothing here")
	server.Publish(&deckv1.Caption{Text: "And here.", Step: 2, Steps: 2,
		Focus: &deckv1.CaptionFocus{Step: 2, Pane: string(keymap.Log)}})
	s.seesText("> And here.", "━ 3 Log")
	s.types("q")
	_, err := s.ends()
	require.NoError(t, err)
}

func TestWhoAttachesReadsTheCaptionAndKeepsTheFocus(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(append(decktest.Running(), &deckv1.Caption{Text: "Each plugin is a process.", Step: 1, Steps: 2,
		Focus: &deckv1.CaptionFocus{Step: 1, Pane: string(keymap.Plugins)}})...)
	o := session{client: dial(t, server), width: 100, height: 30, saveDir: t.TempDir()}
	ctx, leave := context.WithCancel(t.Context())
	s := o.start(t, ctx)
	s.seesText("> Each plugin is a process.", "step 1 of 2", "━ 2 Deployment")
	s.losesText("press . to go on")
	server.Publish(&deckv1.Caption{})
	s.losesText("Each plugin is a process.")
	leave()
	outcome, err := s.ends()
	require.NoError(t, err)
	require.Equal(t, Interrupted, outcome)
}
