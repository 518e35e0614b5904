// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package action

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/state"
)

func TestARemovalNamesTheDeploymentThatItWaitsFor(t *testing.T) {
	t.Parallel()
	app, d := decktest.Application(), decktest.Canary()
	says := func() string {
		s := &session.State{Deck: state.New()}
		for _, event := range decktest.Events(app, d) {
			s.Apply(event)
		}
		return heldBy(s, app)
	}
	require.Equal(t, "; it begins after deployment "+d.GetId()+", whose stage WAIT_APPROVAL waits to be approved: "+
		"approve that, or end it with: pipedeck cancel "+d.GetId(), says())
	for _, stage := range d.GetStages() {
		stage.CanApprove = false
	}
	require.Equal(t, "; it begins after the end of deployment "+d.GetId(), says())
	d.Status = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS
	require.Empty(t, says())
}
