// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

const (
	success   = model.DeploymentStatus_DEPLOYMENT_SUCCESS
	failure   = model.DeploymentStatus_DEPLOYMENT_FAILURE
	cancelled = model.DeploymentStatus_DEPLOYMENT_CANCELLED
)

// deployTo adds a deployment of application "a" from a commit, with an end unless status is RUNNING.
func deployTo(t *testing.T, s *store.Store, id, commit string, status model.DeploymentStatus) {
	t.Helper()
	d := newDeployment(id, "a")
	d.Trigger.Commit.Hash, d.Trigger.SyncStrategy = commit, model.SyncStrategy_QUICK_SYNC
	require.NoError(t, s.Deployments.Create(piped, d))
	if status != model.DeploymentStatus_DEPLOYMENT_RUNNING {
		finish(t, s, id, status)
	}
}

// pastStore has an application "a" whose piped deploys earlier commits.
func pastStore(t *testing.T) *store.Store {
	t.Helper()
	s, _ := newStore(store.Limits{})
	importApplication(s, "a", nil)
	watch(t, s, true)
	return s
}

func watch(t *testing.T, s *store.Store, deploysCommits bool) *store.PipedWatch {
	t.Helper()
	w, err := s.Pipeds.Watch(piped, store.Abilities{DeploysCommits: deploysCommits})
	require.NoError(t, err)
	return w
}

func TestTheNewestDeploymentIsRetriedWhenItHasFailedOrWasCancelled(t *testing.T) {
	t.Parallel()
	s := pastStore(t)
	deployTo(t, s, "d1", "c1", failure)
	id, err := s.Retry("d1", "carol")
	require.NoError(t, err)
	waiting := s.Commands.Waiting(piped)
	require.Len(t, waiting, 1)
	require.Equal(t, id, waiting[0].GetId())
	require.Equal(t, "carol", waiting[0].GetCommander())
	require.Equal(t, map[string]string{"pipedeck/commit": "c1", "pipedeck/retry-of": "d1"}, waiting[0].GetMetadata())
	require.Equal(t, model.SyncStrategy_QUICK_SYNC, waiting[0].GetSyncApplication().GetSyncStrategy())
	again, err := s.Retry("d1", "carol")
	require.NoError(t, err)
	require.Equal(t, id, again, "a key that is pressed twice deploys once")

	deployTo(t, s, "d2", "c2", cancelled)
	_, err = s.Retry("d2", "carol")
	require.NoError(t, err)
}

func TestARetryIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	s := pastStore(t)
	refused := func(code codes.Code, id, reason string) {
		t.Helper()
		_, err := s.Retry(id, "carol")
		requireCode(t, code, err)
		require.ErrorContains(t, err, reason)
	}
	refused(codes.NotFound, "d1", "not found")
	deployTo(t, s, "d1", "c1", failure)
	deployTo(t, s, "d2", "c2", success)
	refused(codes.FailedPrecondition, "d1", "is not the newest of application a, which is d2")
	refused(codes.FailedPrecondition, "d2", "nothing to retry")
	deployTo(t, s, "d3", "c3", model.DeploymentStatus_DEPLOYMENT_RUNNING)
	refused(codes.FailedPrecondition, "d3", "still runs; cancel it first")
	finish(t, s, "d3", failure)
	require.NoError(t, s.Applications.SetDisabled("a", true))
	refused(codes.FailedPrecondition, "d3", "disabled")
	require.Empty(t, s.Commands.Waiting(piped))
}

func TestAnApplicationIsRolledBackToADeploymentThatHasSucceeded(t *testing.T) {
	t.Parallel()
	s := pastStore(t)
	back := func(id string) error {
		_, err := s.RollBack(id, "carol", model.SyncStrategy_PIPELINE)
		return err
	}
	deployTo(t, s, "d1", "c1", success)
	require.ErrorContains(t, back("d1"), "c1 of application a is live already")
	deployTo(t, s, "d2", "c2", failure)
	require.ErrorContains(t, back("d2"), "has not succeeded")
	require.NoError(t, back("d1"), "the failed one may have left anything")
	waiting := s.Commands.Waiting(piped)
	require.Len(t, waiting, 1)
	require.Equal(t, map[string]string{"pipedeck/commit": "c1", "pipedeck/rollback-to": "d1"},
		waiting[0].GetMetadata())
	require.Equal(t, model.SyncStrategy_PIPELINE, waiting[0].GetSyncApplication().GetSyncStrategy())
	deployTo(t, s, "d3", "c3", model.DeploymentStatus_DEPLOYMENT_RUNNING)
	require.ErrorContains(t, back("d1"), "deployment d3 of application a still runs; cancel it first")
}

func TestAPipedThatWouldDeployTheNewestCommitGetsNoEarlierOne(t *testing.T) {
	t.Parallel()
	s := pastStore(t)
	w := watch(t, s, true)
	deployTo(t, s, "d1", "c1", failure)
	_, err := s.Retry("d1", "carol")
	require.NoError(t, err)
	_, err = s.Commands.Add(syncCommand())
	require.NoError(t, err)
	require.Len(t, s.Commands.Waiting(piped), 2)
	w.Close()
	require.Len(t, s.Commands.Waiting(piped), 2, "it is still the same piped")

	other := watch(t, s, false) // another program with its id
	require.Len(t, s.Commands.Waiting(piped), 1, "the sync of the newest commit")
	_, err = s.Retry("d1", "carol")
	requireCode(t, codes.FailedPrecondition, err)
	require.ErrorContains(t, err, "piped p1 cannot deploy an earlier commit")
	other.Close()
	watch(t, s, true)
	require.Len(t, s.Commands.Waiting(piped), 2)
}

func TestWhetherAPipedDeploysEarlierCommitsIsUnknownWhenItStarts(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	shown := func() bool {
		sub, state := s.Subscribe(false)
		defer sub.Close()
		for _, c := range state {
			if c.Piped != nil {
				return c.Piped.DeploysCommits
			}
		}
		return false
	}
	require.False(t, shown())
	w := watch(t, s, true)
	require.True(t, shown())
	started := func() {
		_, err := s.Pipeds.ReportMeta(piped, &pipedservice.ReportPipedMetaRequest{Version: "v"})
		require.NoError(t, err)
	}
	started()
	require.True(t, shown(), "its watch stands")
	w.Close()
	require.True(t, shown())
	started()
	require.False(t, shown())
}
