// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/observe"
)

func TestEventsOfPipedNameIt(t *testing.T) {
	t.Parallel()
	var events []observe.Event
	piped := parsed(t)
	o := &observation{piped: piped, version: "v1",
		observer: observe.New(nil, func(e observe.Event) { events = append(events, e) })}
	o.notify(observe.PipedStarted)
	piped.Name = "mine"
	o.notify(observe.PipedStopped)
	want := observe.Identity{ID: "piped", Name: "piped", Version: "v1", ProjectID: "project"}
	require.Equal(t, want, *events[0].Piped, "without a name its id is shown")
	require.Equal(t, "mine", events[1].Piped.Name)

	o.notifyBroken(&model.Application{Id: "a", Name: "web"}, &model.Commit{Hash: "c"}, "line 1")
	require.Equal(t, "web", events[2].Deployment.GetApplicationName())
	require.Equal(t, "c", events[2].Deployment.GetTrigger().GetCommit().GetHash())
	require.Equal(t, "line 1", events[2].Reason)
}
