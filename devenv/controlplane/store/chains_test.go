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

type matcher = pipedservice.CreateDeploymentChainRequest_ApplicationMatcher

// startChain makes a chain: "first", then the applications labelled tier=web, then "last".
func startChain(t *testing.T) (s *store.Store, chainID string) {
	t.Helper()
	s, _ = newStore(store.Limits{})
	importApplication(s, "first", nil)
	importApplication(s, "web1", map[string]string{"tier": "web"})
	importApplication(s, "web2", map[string]string{"tier": "web", "x": "y"})
	importApplication(s, "db", map[string]string{"tier": "db"})
	importApplication(s, "last", nil)
	require.NoError(t, s.Deployments.CreateChain(piped, &pipedservice.CreateDeploymentChainRequest{
		FirstDeployment: newDeployment("d-first", "first"),
		Matchers:        []*matcher{{Labels: map[string]string{"tier": "web"}}, {Name: "last"}},
	}))
	d, err := s.Deployments.OfPiped(piped, "d-first")
	require.NoError(t, err)
	return s, d.GetDeploymentChainId()
}

// join creates the deployment that piped makes of a chain's command.
func join(t *testing.T, s *store.Store, chainID, application string, block uint32) {
	t.Helper()
	d := newDeployment("d-"+application, application)
	d.DeploymentChainId, d.DeploymentChainBlockIndex = chainID, block
	require.NoError(t, s.Deployments.Create(piped, d))
}

func verdict(t *testing.T, s *store.Store, chainID, application string, block uint32) store.ChainVerdict {
	t.Helper()
	v, err := s.Deployments.InChainPlannable(piped, "d-"+application, chainID, block)
	require.NoError(t, err)
	return v
}

func TestAChainAsksForTheApplicationsThatItsMatchersName(t *testing.T) {
	t.Parallel()
	s, chainID := startChain(t)
	asked := map[string]uint32{}
	for _, c := range s.Commands.Waiting(piped) {
		require.Equal(t, model.Command_CHAIN_SYNC_APPLICATION, c.GetType())
		require.Equal(t, chainID, c.GetCommander())
		asked[c.GetApplicationId()] = c.GetChainSyncApplication().GetBlockIndex()
	}
	require.Equal(t, map[string]uint32{"web1": 1, "web2": 1, "last": 2}, asked, "labels count")
}

func TestABlockWaitsForTheOneBefore(t *testing.T) {
	t.Parallel()
	s, chainID := startChain(t)
	join(t, s, chainID, "web1", 1)
	join(t, s, chainID, "web2", 1)
	join(t, s, chainID, "last", 2)
	require.True(t, verdict(t, s, chainID, "first", 0).Plannable)
	require.Equal(t, store.ChainVerdict{}, verdict(t, s, chainID, "web1", 1))
	finish(t, s, "d-first", model.DeploymentStatus_DEPLOYMENT_SUCCESS)
	require.True(t, verdict(t, s, chainID, "web1", 1).Plannable)
	finish(t, s, "d-web1", model.DeploymentStatus_DEPLOYMENT_SUCCESS)
	require.Equal(t, store.ChainVerdict{}, verdict(t, s, chainID, "last", 2), "web2 has not ended")
	finish(t, s, "d-web2", model.DeploymentStatus_DEPLOYMENT_SUCCESS)
	require.True(t, verdict(t, s, chainID, "last", 2).Plannable)
}

func TestABlockIsCancelledWhenTheOneBeforeFailed(t *testing.T) {
	t.Parallel()
	s, chainID := startChain(t)
	join(t, s, chainID, "web1", 1)
	finish(t, s, "d-first", model.DeploymentStatus_DEPLOYMENT_FAILURE)
	v := verdict(t, s, chainID, "web1", 1)
	require.True(t, v.Cancel)
	require.NotEmpty(t, v.CancelReason)
	_, err := s.Deployments.InChainPlannable(piped, "d-web1", "nope", 1)
	requireCode(t, codes.NotFound, err)
	_, err = s.Deployments.InChainPlannable(piped, "d-web1", chainID, 9)
	requireCode(t, codes.InvalidArgument, err)
}

func TestTheReasonOfACancelledBlockIsTheBlockBefore(t *testing.T) {
	t.Parallel()
	s, chainID := startChain(t)
	join(t, s, chainID, "web1", 1)
	join(t, s, chainID, "web2", 1)
	finish(t, s, "d-first", model.DeploymentStatus_DEPLOYMENT_FAILURE)
	finish(t, s, "d-web2", model.DeploymentStatus_DEPLOYMENT_CANCELLED)
	v := verdict(t, s, chainID, "web1", 1)
	require.True(t, v.Cancel)
	require.Contains(t, v.CancelReason, "the block before it in the deployment chain failed")
}

func TestABlockOfAnApplicationThatRefusesIsCancelled(t *testing.T) {
	t.Parallel()
	s, chainID := startChain(t)
	join(t, s, chainID, "web1", 1)
	join(t, s, chainID, "last", 2)
	finish(t, s, "d-first", model.DeploymentStatus_DEPLOYMENT_SUCCESS)
	for _, c := range s.Commands.Waiting(piped) {
		if c.GetApplicationId() == "web2" {
			require.NoError(t, s.Commands.ReportHandled(piped,
				store.HandledCommand{ID: c.GetId(), Status: model.CommandStatus_COMMAND_FAILED, HandledAt: 1}))
		}
	}
	require.True(t, verdict(t, s, chainID, "web1", 1).Cancel)
	require.True(t, verdict(t, s, chainID, "last", 2).Cancel)
}

func TestTheFirstDeploymentOfAChainSaysWhichMembersAreNotDeployed(t *testing.T) {
	t.Parallel()
	s, _ := newStore(store.Limits{})
	importApplication(s, "first", map[string]string{"tier": "web"})
	importApplication(s, "web1", map[string]string{"tier": "web"})
	importApplication(s, "closed", nil)
	require.NoError(t, s.Deployments.CreateChain(piped, &pipedservice.CreateDeploymentChainRequest{
		FirstDeployment: newDeployment("d-first", "first"),
		Matchers:        []*matcher{{Labels: map[string]string{"tier": "web"}}, {Name: "nosuch"}, {Name: "closed"}},
	}))
	asked := map[string]string{}
	for _, c := range s.Commands.Waiting(piped) {
		asked[c.GetApplicationId()] = c.GetId()
	}
	require.Len(t, asked, 2)
	require.NotContains(t, asked, "first")
	require.NoError(t, s.Commands.ReportHandled(piped, store.HandledCommand{
		ID: asked["closed"], Status: model.CommandStatus_COMMAND_FAILED, HandledAt: 1,
		Metadata: map[string]string{"Reason": "it refuses chains"},
	}))
	finish(t, s, "d-first", model.DeploymentStatus_DEPLOYMENT_SUCCESS)
	d, err := s.Deployments.OfPiped(piped, "d-first")
	require.NoError(t, err)
	for _, want := range []string{
		"; deployment chain: the member {label tier: web} is not deployed again: the chain begins with it",
		"; no application matches the member {name: nosuch}", "; closed is not deployed: it refuses chains",
	} {
		require.Contains(t, d.GetStatusReason(), want)
	}
}
