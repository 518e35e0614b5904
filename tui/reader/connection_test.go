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

func TestALostConnectionOfARecordedSessionIsReported(t *testing.T) {
	t.Parallel()
	d := NewDiffer()
	const killed = "the process of the environment was killed"
	apply := func(second float64, c *deckv1.Connection) []Change {
		return d.Apply(&deckv1.Event{Time: decktest.At(second), Kind: &deckv1.Event_Connection{Connection: c}})
	}
	require.Empty(t, apply(0, &deckv1.Connection{}), "it was not lost")
	lost := &deckv1.Connection{Lost: killed, Stopped: true}
	changes := apply(1, lost)
	require.Len(t, changes, 1)
	require.Empty(t, apply(2, lost), "the same again is no news")
	require.Equal(t, []string{"problem      environment  DEGRADED  " + killed}, plainLines(changes[0], Options{}))
	require.Equal(t, []string{"The environment has stopped: " + killed + "."}, sentences(changes[0], Options{}))
	object := func(state string) string {
		return `{"type":"problem","schema":1,"id":"connection","component":"","app_id":"","part":"environment",` +
			`"state":"` + state + `","reason":"` + killed + `","next_step":"","since":"2026-08-20T12:00:01Z",`
	}
	line, err := json.Marshal(jsonLine(changes[0]))
	require.NoError(t, err)
	require.JSONEq(t, object("DEGRADED")+`"time":"2026-08-20T12:00:01Z"}`, string(line))

	changes = apply(3, &deckv1.Connection{})
	require.Len(t, changes, 1)
	require.Equal(t, []string{"problem      environment  CLEARED"}, plainLines(changes[0], Options{}))
	require.Equal(t, []string{"The environment answers again."}, sentences(changes[0], Options{}))
	line, err = json.Marshal(jsonLine(changes[0]))
	require.NoError(t, err)
	require.JSONEq(t, object("CLEARED")+`"time":"2026-08-20T12:00:03Z"}`, string(line))

	changes = apply(4, &deckv1.Connection{Lost: "it hangs"})
	require.Equal(t, []string{"The environment does not answer: it hangs."}, sentences(changes[0], Options{}))
	require.Len(t, apply(5, lost), 1, "the reason was found later")
}

func TestEachProcessThatTakesOverIsReported(t *testing.T) {
	t.Parallel()
	d := NewDiffer()
	report := func(detail string) []Change {
		c := decktest.Component(0, "control plane", detail)
		return d.Apply(&deckv1.Event{Kind: &deckv1.Event_Component{Component: c}})
	}
	reset := &deckv1.Event{Kind: &deckv1.Event_Reset_{Reset_: &deckv1.Reset{}}}
	synced := &deckv1.Event{Kind: &deckv1.Event_Synced{Synced: &deckv1.Synced{}}}
	require.Len(t, report("127.0.0.1:4001"), 1)
	for _, pid := range []string{"4711", "4712"} {
		d.Apply(reset)
		require.Len(t, report("127.0.0.1:4001; took over from pid "+pid+", which was killed"), 1, pid)
		d.Apply(synced)
	}
	require.Empty(t, report("127.0.0.1:4001; took over from pid 4713, which was killed"), "as of progress")
	d.Apply(reset)
	require.Empty(t, report("127.0.0.1:4001; took over from pid 4713, which was killed"), "the same is repeated")
}
