// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/recorder"
)

func (p *plane) says(t *testing.T, c *deckv1.Caption) error {
	t.Helper()
	_, err := p.deck.ShowCaption(testContext(t), &deckv1.ShowCaptionRequest{Caption: c})
	return err
}

func TestTheCaptionOfAStoryReachesAllWhoWatchAndTheRecording(t *testing.T) {
	t.Parallel()
	p := start(t)
	p.importApplication(id("2"), "ws")
	file, ended := recordSession(t, p, recorder.Options{})
	recordedUntil(t, file, func(r *deckv1.SessionRecord) bool { return r.GetEvent().GetSynced() != nil })
	early := p.watch(t, false)
	require.Nil(t, early.caption)
	require.NoError(t, p.says(t, &deckv1.Caption{Text: "A commit deploys.", Step: 1, Steps: 2, Awaits: "ws SUCCESS",
		Focus: &deckv1.CaptionFocus{Step: 1, Pane: "deployment", Application: "ws"}}))
	early.until(func() bool { return early.caption.GetText() == "A commit deploys." })
	require.Equal(t, "ws", early.caption.GetFocus().GetApplication())
	late := p.watch(t, false)
	require.Equal(t, "ws SUCCESS", late.caption.GetAwaits())
	// Events that come together have one time in the recording.
	recordedUntil(t, file, func(r *deckv1.SessionRecord) bool { return r.GetEvent().GetCaption().GetStep() == 1 })
	require.NoError(t, p.says(t, &deckv1.Caption{Text: "That is all.", Step: 2, Steps: 2}))
	recordedUntil(t, file, func(r *deckv1.SessionRecord) bool { return r.GetEvent().GetCaption().GetStep() == 2 })
	requireCode(t, codes.InvalidArgument, p.says(t, &deckv1.Caption{Text: strings.Repeat("x", 5<<10)}))
	requireCode(t, codes.InvalidArgument, p.says(t, &deckv1.Caption{Text: "Look there.", Step: 2, Steps: 2,
		Focus: &deckv1.CaptionFocus{Step: 2, Pane: "attic"}}))
	late.until(func() bool { return late.caption.GetText() == "That is all." })

	require.NoError(t, p.says(t, nil))
	late.until(func() bool { return late.caption.GetText() == "" })
	require.Nil(t, p.watch(t, false).caption, "there is no story any more")
	recordedUntil(t, file, func(r *deckv1.SessionRecord) bool {
		return r.GetEvent().GetCaption() != nil && r.GetEvent().GetCaption().GetText() == ""
	})
	p.stop()
	require.NoError(t, <-ended)
	replayed, film := played(t, file)
	var said []string
	for _, record := range sessionOf(t, file).Records {
		if c := record.GetEvent().GetCaption(); c != nil {
			said = append(said, c.GetText())
			film.Seek(record.GetAt().AsDuration())
			require.Equal(t, c.GetText(), replayed.watch(t, false).caption.GetText())
		}
	}
	require.Equal(t, []string{"A commit deploys.", "That is all.", ""}, said)
	film.Seek(0)
	require.Nil(t, replayed.watch(t, false).caption, "before the story")
}
