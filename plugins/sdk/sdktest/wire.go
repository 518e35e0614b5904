// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest

import (
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// This file is the only place where answers of a plugin become types of the SDK: what piped reads of them.

func stagesOf(wire []*model.PipelineStage) (stages []sdk.Stage) {
	for _, s := range wire {
		stages = append(stages, sdk.Stage{
			Name: s.GetName(), Desc: s.GetDesc(), Index: int(s.GetIndex()), Rollback: s.GetRollback(),
			Metadata: s.GetMetadata(), Operation: operationOf(s.GetAvailableOperation()),
			Operators: s.GetAuthorizedOperators(),
		})
	}
	return stages
}

func operationOf(o model.ManualOperation) sdk.Operation {
	switch o {
	case model.ManualOperation_MANUAL_OPERATION_APPROVE:
		return sdk.OperationApprove
	case model.ManualOperation_MANUAL_OPERATION_SKIP:
		return sdk.OperationSkip
	default:
		return sdk.OperationNone
	}
}

func versionsOf(wire []*model.ArtifactVersion) (versions []sdk.ArtifactVersion) {
	for _, v := range wire {
		versions = append(versions, sdk.ArtifactVersion{Name: v.GetName(), Version: v.GetVersion(), URL: v.GetUrl()})
	}
	return versions
}

func livestateOf(wire *livestate.GetLivestateResponse) *sdk.Livestate {
	state := &sdk.Livestate{}
	for _, r := range wire.GetApplicationLiveState().GetResources() {
		var created time.Time // unknown where it is the time of the look
		if r.GetCreatedAt() != r.GetUpdatedAt() {
			created = time.Unix(r.GetCreatedAt(), 0)
		}
		state.Resources = append(state.Resources, &sdk.ResourceState{
			ID: r.GetId(), ParentIDs: r.GetParentIds(), Name: r.GetName(), Type: r.GetResourceType(),
			Metadata: r.GetResourceMetadata(), Health: sdk.HealthStatus(r.GetHealthStatus()),
			HealthDescription: r.GetHealthDescription(), DeployTarget: r.GetDeployTarget(),
			CreatedAt: created,
		})
	}
	if s := wire.GetSyncState(); s != nil {
		state.Sync = &sdk.SyncState{Status: sdk.SyncStatus(s.GetStatus()), ShortReason: s.GetShortReason(),
			Reason: s.GetReason(), At: time.Unix(s.GetTimestamp(), 0)}
	}
	return state
}

func driftsOf(wire []*livestate.ResourceDrift) (drifts []sdk.ResourceDrift) {
	for _, d := range wire {
		drift := sdk.ResourceDrift{ResourceID: d.GetResourceId(), MoreFields: int(d.GetMoreFields()),
			Refused: d.GetRefused()}
		for _, f := range d.GetFields() {
			drift.Fields = append(drift.Fields, sdk.FieldDrift{Path: f.GetPath(), Git: f.GetGitValue(),
				Live: f.GetLiveValue(), Applied: f.GetAppliedValue(), Change: sdk.DriftChange(f.GetChange()),
				Secret: f.GetSecret(), Writer: f.GetWriter()})
		}
		drifts = append(drifts, drift)
	}
	return drifts
}

func previewsOf(wire []*planpreview.PlanPreviewResult) (previews []sdk.PlanPreview) {
	for _, p := range wire {
		previews = append(previews, sdk.PlanPreview{Target: p.GetDeployTarget(), Summary: p.GetSummary(),
			NoChange: p.GetNoChange(), Details: string(p.GetDetails()), Language: p.GetDiffLanguage()})
	}
	return previews
}
