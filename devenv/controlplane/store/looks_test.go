// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

// orderLook has a user ask for a look, and returns the number of the order that piped gets.
func orderLook(t *testing.T, s *store.Store, watch *store.PipedWatch) uint64 {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := s.LookNow(ctx, "a1")
		ended <- err
	}()
	defer func() {
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
	}()
	for {
		dirty, err := watch.Next(t.Context())
		require.NoError(t, err)
		if len(dirty.Looks) > 0 {
			return dirty.Looks[0].GetNumber()
		}
	}
}

func TestOrdersToLookAreNumberedOnAfterARestartOfTheControlPlane(t *testing.T) {
	t.Parallel()
	var last uint64
	for restarts := range 2 {
		s, clock := newStore(store.Limits{})
		clock.advance(time.Duration(restarts) * time.Second)
		s.Applications.Import(&model.Application{
			Id: "a1", Name: "a1", PipedId: piped, ProjectId: project,
			MostRecentlySuccessfulDeployment: &model.ApplicationDeploymentReference{DeploymentId: "d1"},
			GitPath: &model.ApplicationGitPath{
				Repo: &model.ApplicationGitRepository{Id: "r"}, Path: "a1",
			},
		})
		watch, err := s.Pipeds.Watch(piped, store.Abilities{LooksOnRequest: true})
		require.NoError(t, err)
		for range 3 { // also while the clock stands still
			number := orderLook(t, s, watch)
			require.Greater(t, number, last, "piped, which goes on, takes smaller numbers for answered ones")
			last = number
		}
		watch.Close()
	}
}
