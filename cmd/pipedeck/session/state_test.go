// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/state"
)

func TestADeploymentToCancelIsNamedByItsIdOrItsApplication(t *testing.T) {
	t.Parallel()
	s := &State{Deck: state.New()}
	deployment := func(id, app string, status deckv1.DeploymentStatus) {
		s.Apply(&deckv1.Event{Kind: &deckv1.Event_Deployment{Deployment: &deckv1.Deployment{Id: id, ApplicationId: app,
			Status: status}}})
	}
	for _, app := range []string{"one", "two", "none"} {
		s.Apply(&deckv1.Event{Kind: &deckv1.Event_Application{Application: &deckv1.Application{Id: app + "-id",
			Name: app}}})
	}
	deployment("aaaa-1", "one-id", deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS)
	deployment("aaaa-2", "one-id", deckv1.DeploymentStatus_DEPLOYMENT_STATUS_RUNNING)
	deployment("bbbb-1", "two-id", deckv1.DeploymentStatus_DEPLOYMENT_STATUS_RUNNING)
	deployment("bbbb-2", "two-id", deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING)
	for name, want := range map[string]string{"one": "aaaa-2", "aaaa-1": "aaaa-1", "bbbb-2": "bbbb-2"} {
		d, err := s.FindRunning(name, " --name demo")
		require.NoError(t, err, name)
		require.Equal(t, want, d.GetId())
	}
	for name, problem := range map[string]string{
		"two": "2 deployments of \"two\" are under way", "none": "no deployment of \"none\" is under way",
		"aaaa": "begins 2 deployments", "x": "no deployment \"x\"",
	} {
		_, err := s.FindRunning(name, " --name demo")
		require.ErrorContains(t, err, problem)
	}
	_, err := s.FindRunning("two", " --name demo")
	failure := (*exit.Error)(nil)
	require.ErrorAs(t, err, &failure)
	require.Contains(t, failure.Hint, "\n  pipedeck cancel bbbb-1 --name demo", "a command that works as printed")
}

func TestAnApplicationOfSeveralPipedsIsNamedByItsID(t *testing.T) {
	t.Parallel()
	s := &State{Deck: state.New()}
	for _, a := range []*deckv1.Application{{Id: "a1", Name: "web", PipedId: "p1"},
		{Id: "a2", Name: "web", PipedId: "p2"}, {Id: "a3", Name: "api"}} {
		s.Apply(&deckv1.Event{Kind: &deckv1.Event_Application{Application: a}})
	}
	_, err := s.FindApplication("web")
	require.ErrorContains(t, err, `2 applications are named "web"`)
	for name, id := range map[string]string{"a2": "a2", "api": "a3"} {
		a, err := s.FindApplication(name)
		require.NoError(t, err)
		require.Equal(t, id, a.GetId())
	}
}
