// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestAStoryIsReportedWhenItSaysSomethingElse(t *testing.T) {
	t.Parallel()
	d := NewDiffer()
	say := func(c *deckv1.Caption) []Change {
		return d.Apply(&deckv1.Event{Time: decktest.At(1), Kind: &deckv1.Event_Caption{Caption: c}})
	}
	said := &deckv1.Caption{Text: "A commit deploys.", Step: 2, Steps: 6, Awaits: "hello-world SUCCESS"}
	changes := say(said)
	require.Len(t, changes, 1)
	require.Equal(t, []string{"story        step 2 of 6: A commit deploys."}, plainLines(changes[0], Options{}))
	require.Equal(t, []string{"Story, step 2 of 6: A commit deploys."}, sentences(changes[0], Options{}))
	line, err := json.Marshal(jsonLine(changes[0]))
	require.NoError(t, err)
	require.JSONEq(t, `{"time":"2026-08-20T12:00:01Z","type":"story","schema":1,"text":"A commit deploys.","step":2,
		"steps":6,"awaits":"hello-world SUCCESS"}`, string(line))

	require.Empty(t, say(&deckv1.Caption{Text: said.GetText(), Step: 3, Steps: 6}))
	require.Empty(t, say(&deckv1.Caption{}), "the story is over")
	require.Len(t, say(said), 1)
}
