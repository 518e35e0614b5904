// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"cmp"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
)

func (l *Livestate) wire(plugin string, now time.Time) *livestate.GetLivestateResponse {
	if l == nil {
		l = &Livestate{}
	}
	resources := converted(l.Resources, func(r *ResourceState) *model.ResourceState { return r.wire(plugin, now) })
	return &livestate.GetLivestateResponse{
		ApplicationLiveState: &model.ApplicationLiveState{Resources: resources, HealthStatus: healthOf(l.Resources)},
		SyncState:            l.Sync.wire(now),
	}
}

func (r *ResourceState) wire(plugin string, now time.Time) *model.ResourceState {
	return &model.ResourceState{
		Id: r.ID, ParentIds: r.ParentIDs, Name: r.Name, ResourceType: r.Type, ResourceMetadata: r.Metadata,
		HealthStatus: r.Health.wire(), HealthDescription: r.HealthDescription, DeployTarget: r.DeployTarget,
		PluginName: plugin, CreatedAt: r.created(now), UpdatedAt: now.Unix(),
	}
}

// created is when the resource was created, in the protocol, where each resource needs a time. The time of the look, in
// UpdatedAt, stands for one that is not known, so that a resource of this second is at least a second old.
func (r *ResourceState) created(now time.Time) int64 {
	if r.CreatedAt.IsZero() {
		return now.Unix()
	}
	return min(secondsOr(r.CreatedAt, now), now.Unix()-1)
}

// healthOf follows PipeCD v1: one unknown resource makes the whole unknown, else one unhealthy other.
func healthOf(resources []*ResourceState) model.ApplicationLiveState_Status {
	health := model.ApplicationLiveState_HEALTHY
	for _, resource := range resources {
		switch resource.Health {
		case HealthUnknown:
			return model.ApplicationLiveState_UNKNOWN
		case Unhealthy:
			health = model.ApplicationLiveState_OTHER
		}
	}
	return health
}

func (s HealthStatus) wire() model.ResourceState_HealthStatus {
	return model.ResourceState_HealthStatus(s)
}

func (s *SyncState) wire(now time.Time) *model.ApplicationSyncState {
	if s == nil {
		return nil
	}
	return &model.ApplicationSyncState{Status: s.Status.wire(), ShortReason: s.ShortReason, Reason: s.Reason,
		Timestamp: secondsOr(s.At, now)}
}

func (s SyncStatus) wire() model.ApplicationSyncStatus { return model.ApplicationSyncStatus(s) }

func (d ResourceDrift) wire() *livestate.ResourceDrift {
	return &livestate.ResourceDrift{ResourceId: d.ResourceID, Fields: converted(d.Fields, FieldDrift.wire),
		MoreFields: uint32(max(d.MoreFields, 0)), Refused: d.Refused}
}

func sizeOfDrift(d ResourceDrift) int { return proto.Size(d.wire()) }

func (f FieldDrift) wire() *livestate.FieldDrift {
	return &livestate.FieldDrift{Path: f.Path, GitValue: f.Git, LiveValue: f.Live, AppliedValue: f.Applied,
		Change: f.Change.wire(), Secret: f.Secret, Writer: f.Writer}
}

func (c DriftChange) wire() livestate.FieldDrift_Change { return livestate.FieldDrift_Change(c) }

func (p PlanPreview) wire() *planpreview.PlanPreviewResult {
	language := p.Language
	if p.Details != "" {
		language = cmp.Or(language, "diff")
	}
	return &planpreview.PlanPreviewResult{
		DeployTarget: p.Target, Summary: p.Summary, NoChange: p.NoChange, Details: []byte(p.Details),
		DiffLanguage: language,
	}
}
