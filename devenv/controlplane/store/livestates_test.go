// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func liveState(application string, health model.ResourceState_HealthStatus) *model.ApplicationLiveStateSnapshot {
	return &model.ApplicationLiveStateSnapshot{
		ApplicationId: application,
		ApplicationLiveState: &model.ApplicationLiveState{
			Resources: []*model.ResourceState{{Id: "r", HealthStatus: health}},
		},
	}
}

func TestALiveStateWakesItsReadersAndShowsInTheApplication(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	importApplication(s, "a", nil)
	_, err := s.LiveStates.Get("a")
	requireCode(t, codes.NotFound, err)
	resources, news, err := s.LiveStates.Resources("a")
	require.NoError(t, err)
	require.Empty(t, resources)

	sub, _ := s.Subscribe(false)
	defer sub.Close()
	unhealthy := liveState("a", model.ResourceState_UNHEALTHY)
	require.NoError(t, s.LiveStates.Report(piped, unhealthy))
	requireClosed(t, news)
	require.NoError(t, s.LiveStates.Report(piped, unhealthy))
	changes, err := sub.Next(t.Context())
	require.NoError(t, err)
	require.Len(t, changes, 1, "the second report changed nothing that the application shows")
	require.Equal(t, model.ApplicationLiveState_OTHER, changes[0].Application.Health)
	require.Equal(t, store.ResourceCounts{Total: 1, Unhealthy: 1}, changes[0].Application.Counts)

	requireCode(t, codes.PermissionDenied, s.LiveStates.Report("another", unhealthy))
	requireCode(t, codes.NotFound, s.LiveStates.Report(piped, liveState("b", model.ResourceState_HEALTHY)))
}

func TestReadersOfALiveStateLearnThatTheApplicationIsGone(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	importApplication(s, "a", nil)
	require.NoError(t, s.LiveStates.Report(piped, liveState("a", model.ResourceState_HEALTHY)))
	_, news, err := s.LiveStates.Resources("a")
	require.NoError(t, err)
	require.NoError(t, s.DeleteApplication("a"))
	requireClosed(t, news)
	_, _, err = s.LiveStates.Resources("a")
	requireCode(t, codes.NotFound, err)

	importApplication(s, "b", nil)
	s.Watching("/srv/one")
	_, news, err = s.LiveStates.Resources("b")
	require.NoError(t, err)
	s.Watching("/srv/two")
	requireClosed(t, news)
}

func requireClosed(t *testing.T, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	default:
		t.Fatal("the reader was not notified")
	}
}
