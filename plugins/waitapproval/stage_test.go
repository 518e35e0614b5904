// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

const stageID = "wait_approval"

func TestOneApprovalIsEnoughByDefault(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, sdk.ForStages(plugin{}), wiretest.Options{})
	ended := h.Go(t.Context(), t, stageWaitApproval, `{}`)
	h.Piped.WaitLog(t, stageID, "Waiting for approval: 1 needed from anyone")
	h.Piped.Skip(stageID, "mallory") // means nothing here
	h.Piped.Approve(stageID, "alice")
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, <-ended)
	require.Equal(t, map[string]string{
		sdk.ApprovedUsersMetadataKey: "alice",
		sdk.DisplayMetadataKey:       "Approved by: alice",
	}, h.Piped.StageMetadata(stageID))
}

func TestSeveralApprovalsHaveToBeOfDifferentApprovers(t *testing.T) {
	t.Parallel()
	for name, old := range map[string]bool{"push": false, "polling": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := wiretest.Start(t, sdk.ForStages(plugin{}), wiretest.Options{OldPiped: old})
			ended := h.Go(t.Context(), t, stageWaitApproval, `{"approvers":["alice","bob","carol"],"minApproverNum":2}`)
			h.Piped.Approve(stageID, "alice")
			h.Piped.WaitLog(t, stageID, "alice approved (1 of 2)")
			require.Equal(t, "1 of 2 approved: alice", h.Piped.StageMetadata(stageID)[sdk.DisplayMetadataKey])
			require.NotContains(t, h.Piped.StageMetadata(stageID), sdk.ApprovedUsersMetadataKey)
			h.Piped.Approve(stageID, "alice")
			h.Piped.WaitLog(t, stageID, "alice has approved already")
			h.Piped.Approve(stageID, "mallory")
			h.Piped.WaitLog(t, stageID, "The approval by mallory does not count: the approvers are alice, bob, carol")
			h.Piped.Approve(stageID, "bob")
			require.Equal(t, model.StageStatus_STAGE_SUCCESS, <-ended)
			require.Equal(t, "alice, bob", h.Piped.StageMetadata(stageID)[sdk.ApprovedUsersMetadataKey])
			require.Equal(t, "Approved by: alice, bob", h.Piped.StageMetadata(stageID)[sdk.DisplayMetadataKey])
		})
	}
}

func TestApprovalsOutlastARestart(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, sdk.ForStages(plugin{}), wiretest.Options{})
	const with = `{"minApproverNum":2}`
	ctx, cancel := context.WithCancel(t.Context())
	ended := h.Go(ctx, t, stageWaitApproval, with)
	h.Piped.Approve(stageID, "alice")
	h.Piped.WaitLog(t, stageID, "alice approved (1 of 2)")
	require.Equal(t, "2", h.Piped.StageMetadata(stageID)["approvals-needed"])
	require.Equal(t, "1 of 2 approved: alice", h.Piped.StageMetadata(stageID)[sdk.DisplayMetadataKey])
	cancel()
	<-ended
	h.Piped.WaitLog(t, stageID, "the stage was cancelled")

	ended = h.Go(t.Context(), t, stageWaitApproval, with)
	h.Piped.WaitLog(t, stageID, "Going on with the approvals of alice; 2 needed from anyone")
	h.Piped.Approve(stageID, "bob")
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, <-ended)

	require.Equal(t, model.StageStatus_STAGE_SUCCESS, h.Execute(t, stageWaitApproval, with),
		"a stage that was approved stays so")
}

func TestAStageThatAUserRunsOnceMoreNeedsNewApprovals(t *testing.T) {
	t.Parallel()
	h := sdktest.Start(t, sdk.ForStages(plugin{}), sdktest.Options{Name: "waitapproval"})
	h.Piped.SetStageMetadata(stageID, string(collectedKey), `["alice"]`)
	h.Piped.SetStageMetadata(stageID, sdk.ApprovedUsersMetadataKey, "alice, bob")
	ended := make(chan error, 1)
	go func() {
		_, err := h.Run(t.Context(), sdktest.Execution{Stage: stageWaitApproval, Options: `{"minApproverNum":2}`,
			Attempt: 1, Run: 1})
		ended <- err
	}()
	h.Piped.WaitLog(t, stageID, "Waiting for approval: 2 needed from anyone")
	require.Empty(t, h.Piped.StageMetadata(stageID)[sdk.ApprovedUsersMetadataKey])
	require.Equal(t, "[]", h.Piped.StageMetadata(stageID)[string(collectedKey)])
	h.Piped.Approve(stageID, "bob")
	h.Piped.Approve(stageID, "carol")
	require.NoError(t, <-ended)
	require.Equal(t, "bob, carol", h.Piped.StageMetadata(stageID)[sdk.ApprovedUsersMetadataKey])
}

func TestBuildOffersApprovalToTheApprovers(t *testing.T) {
	t.Parallel()
	h := wiretest.Start(t, sdk.ForStages(plugin{}), wiretest.Options{})
	for name, tc := range map[string]struct{ with, err string }{
		"approvers":             {with: `{"approvers":["alice","bob"],"minApproverNum":2}`},
		"number too small":      {with: `{"minApproverNum":0}`, err: "minApproverNum is 0, it has to be at least 1"},
		"number out of reach":   {with: `{"approvers":["a","a"],"minApproverNum":2}`, err: "approvers names only 1"},
		"empty name":            {with: `{"approvers":[""]}`, err: "empty name"},
		"approvers as one name": {with: `{"approvers":"alice"}`, err: "approvers must be a list, not a string"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := h.Deployment.BuildPipelineSyncStages(t.Context(), &deployment.BuildPipelineSyncStagesRequest{
				Stages: []*deployment.BuildPipelineSyncStagesRequest_StageConfig{{Name: stageWaitApproval,
					Config: []byte(tc.with)}},
			})
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, model.ManualOperation_MANUAL_OPERATION_APPROVE,
				resp.GetStages()[0].GetAvailableOperation())
			require.Equal(t, []string{"alice", "bob"}, resp.GetStages()[0].GetAuthorizedOperators())
		})
	}
}
