// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
	"github.com/pipedeck/pipedeck/api/plugin/planpreview"
	"github.com/pipedeck/pipedeck/api/plugin/schema"
)

// live reports live state, its changes and drift.
type live struct {
	livestate.UnimplementedLivestateServiceServer
	livestate.UnimplementedLivestateChangeServiceServer
	livestate.UnimplementedLivestateDriftServiceServer
	*plugin
}

func (l *live) GetLivestate(ctx context.Context,
	req *livestate.GetLivestateRequest) (*livestate.GetLivestateResponse, error) {
	if makes("live-crashes") && req.DeploySource.CommitHash == "" {
		return nil, nil
	}
	renders("live-rendered", req.GetDeploySource())
	leavesOfLook()
	if makes("live-hangs") {
		time.Sleep(time.Minute)
	}
	for _, name := range req.GetDeployTargets() {
		if !l.known(name) {
			return nil, status.Errorf(codes.InvalidArgument, "there is no deploy target %s", name)
		}
	}
	target := append(req.GetDeployTargets(), "")[0]
	parent := resource("parent", target)
	child := resource("child", target)
	child.ParentIds = []string{"parent"}
	mistakenResource(child)
	if makes("live-too-large") {
		child.HealthDescription = strings.Repeat("x", 5<<20)
	}
	if makes("live-shows-password") {
		child.ResourceMetadata = map[string]string{"config": string(l.Config)}
	}
	sync := &model.ApplicationSyncState{Status: model.ApplicationSyncStatus_OUT_OF_SYNC, ShortReason: "one differs",
		Timestamp: time.Now().Unix()}
	if makes("live-no-reason") {
		sync.ShortReason = ""
	}
	return &livestate.GetLivestateResponse{ApplicationLiveState: &model.ApplicationLiveState{
		Resources: []*model.ResourceState{parent, child}}, SyncState: sync}, ctx.Err()
}

func (l *live) known(name string) bool {
	for _, target := range l.Targets {
		if target.Name == name {
			return true
		}
	}
	return false
}

func resource(id, target string) *model.ResourceState {
	now := time.Now().Unix()
	return &model.ResourceState{Id: id, Name: id, ResourceType: "Thing", HealthStatus: model.ResourceState_HEALTHY,
		DeployTarget: target, CreatedAt: now, UpdatedAt: now}
}

func mistakenResource(child *model.ResourceState) {
	switch {
	case makes("live-no-id"):
		child.Id = ""
	case makes("live-no-time"):
		child.CreatedAt = 0
	case makes("live-same-id"):
		child.Id = "parent"
	case makes("live-lost-parent"):
		child.ParentIds = []string{"grandparent"}
	case makes("live-foreign"):
		child.DeployTarget = "production"
	case makes("live-random"):
		child.Id = strconv.Itoa(rand.Int())
	}
}

func (l *live) AwaitChanges(ctx context.Context,
	req *livestate.AwaitChangesRequest) (*livestate.AwaitChangesResponse, error) {
	answer := &livestate.AwaitChangesResponse{Instance: "one", Position: req.GetPosition()}
	if makes("changes-at-once") {
		return answer, nil
	}
	if makes("changes-hold-stop") {
		time.Sleep(time.Minute)
	}
	select {
	case <-time.After(time.Minute):
	case <-ctx.Done():
	case <-l.stopping.Done():
	}
	return answer, nil
}

func (l *live) GetDrift(context.Context, *livestate.GetDriftRequest) (*livestate.GetDriftResponse, error) {
	drift := &livestate.ResourceDrift{ResourceId: "child", Fields: []*livestate.FieldDrift{
		{Path: "spec.size", GitValue: "1", LiveValue: "2"}}}
	if makes("drift-stranger") {
		drift.ResourceId = "stranger"
	}
	if makes("drift-endless") {
		for range 499 {
			drift.Fields = append(drift.Fields, drift.Fields[0])
		}
	}
	return &livestate.GetDriftResponse{Resources: []*livestate.ResourceDrift{drift}}, nil
}

// previews shows what a change would do.
type previews struct {
	planpreview.UnimplementedPlanPreviewServiceServer
	*plugin
}

func (p *previews) GetPlanPreview(_ context.Context,
	req *planpreview.GetPlanPreviewRequest) (*planpreview.GetPlanPreviewResponse, error) {
	if makes("preview-crashes") {
		_ = req.RunningDeploymentSource.CommitHash
	}
	answer := &planpreview.GetPlanPreviewResponse{}
	for _, target := range req.GetDeployTargets() {
		result := &planpreview.PlanPreviewResult{DeployTarget: target, NoChange: true, Summary: "no change"}
		switch {
		case makes("preview-foreign"):
			result.DeployTarget = "production"
		case makes("preview-contradicts"):
			result.Details = []byte("+ size: 2\n")
		}
		answer.Results = append(answer.Results, result)
	}
	return answer, nil
}

// schemas serves the schema of the options.
type schemas struct {
	schema.UnimplementedSchemaServiceServer
}

func document() string {
	name := work
	if makes("schema-stranger") {
		name = unheard
	}
	rules := `"type": "object", "additionalProperties": false`
	if makes("options-misspelt") {
		rules = `"type": "object"`
	}
	return `{"definitions": {"stages": {"properties": {"` + name + `": {` + rules + `}}}}}`
}

func (*schemas) GetSchema(context.Context, *schema.GetSchemaRequest) (*schema.GetSchemaResponse, error) {
	text := document()
	if makes("schema-broken") {
		text = "definitions: {}"
	}
	return &schema.GetSchemaResponse{JsonSchema: []byte(text)}, nil
}
