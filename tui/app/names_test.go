// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestTwoApplicationsOfOneNameDifferEverywhere(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	first, second := decktest.Synced(), decktest.Synced()
	first.PipedId, second.Id, second.PipedId = "p1", "app-2", "p2"
	server.Publish(append(real(), &deckv1.Piped{Id: "p1", Name: "east", Own: true},
		&deckv1.Piped{Id: "p2", Name: "west"}, first, second)...)
	s := play(t, dial(t, server), 120, 40, seams{})
	s.seesText("◆ hello-world of east", "✓ hello-world of west", "2 Deployment · hello-world of east")
	s.types("1j")
	s.seesText("2 Deployment · hello-world of west")
	s.types("s")
	s.seesText("Deploy the newest commit of hello-world of west?", "pipedeck sync app-2")
	s.types("y")
	require.True(t, proto.Equal(&deckv1.SyncApplicationRequest{ApplicationId: "app-2"}, call(t, server)))
	s.seesText("asked to deploy hello-world of west")
	s.types("1/east\r")
	s.seesText("1 of 2", "2 Deployment · hello-world of east")
}

func TestBigModeSaysWhyItIsNotShownOnATinyScreen(t *testing.T) {
	t.Parallel()
	m := waiting(t, 20, 6)
	m.key("Z")
	require.False(t, m.host.look.Big)
	requireSaid(t, m, "cannot show big mode, for projectors: it needs 40x12")
	m.size(80, 24)
	m.key("Z")
	require.True(t, m.host.look.Big)
	m.size(20, 6)
	m.key("Z")
	require.False(t, m.host.look.Big, "it can always be left")
}
