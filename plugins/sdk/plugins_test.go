// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// stagePlugin is a StagePlugin made of functions.
type stagePlugin struct {
	build   func(*sdk.PipelineRequest[sdk.None]) ([]sdk.Stage, error)
	execute func(context.Context, *sdk.StageRequest[sdk.None]) (sdk.Result, error)
}

func (stagePlugin) Stages() []string { return []string{"TEST", "OTHER", "ONE", "TWO", "TEST_ROLLBACK"} }

func (p stagePlugin) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[sdk.None]) ([]sdk.Stage, error) {
	if p.build == nil {
		return sdk.CopyStages(req.Stages), nil
	}
	return p.build(req)
}

func (p stagePlugin) ExecuteStage(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
	return p.execute(ctx, req)
}

// executing is a plugin that runs its stages with a function.
func executing(execute func(context.Context, *sdk.StageRequest[sdk.None]) (sdk.Result, error)) sdk.Plugin {
	return sdk.ForStages(stagePlugin{execute: execute})
}

// stuckPlugin can neither start nor close.
type stuckPlugin struct{ stagePlugin }

func (stuckPlugin) Start(context.Context, *sdk.Env[sdk.None, sdk.None]) error {
	return errors.New("the store is locked")
}

func (stuckPlugin) Close() error { return errors.New("and cannot be closed") }

type fleetConfig struct {
	Region string `json:"region"`
}

type fleetTarget struct {
	Address string `json:"address"`
}

func (t *fleetTarget) Validate() error {
	if t.Address == "" {
		return errors.New("address is required")
	}
	return nil
}

type fleetApp struct {
	Image string `json:"image"`
}

type (
	fleetPlan    = sdk.PlanRequest[fleetConfig, fleetTarget, fleetApp]
	fleetExecute = sdk.ExecuteRequest[fleetConfig, fleetTarget, fleetApp]
)

// fleet is a DeploymentPlugin with every optional part.
type fleet struct {
	executed chan *fleetExecute
	planned  chan *fleetPlan
	closed   chan struct{}
	env      *sdk.Env[fleetConfig, fleetTarget]
}

func newFleet() *fleet {
	return &fleet{executed: make(chan *fleetExecute, 10), planned: make(chan *fleetPlan, 10),
		closed: make(chan struct{})}
}

func (f *fleet) Start(_ context.Context, env *sdk.Env[fleetConfig, fleetTarget]) error {
	f.env = env
	return nil
}

func (f *fleet) Close() error {
	close(f.closed)
	return nil
}

func (*fleet) Stages() []string { return []string{"FLEET_SYNC"} }

func (f *fleet) DetermineVersions(_ context.Context, req *fleetPlan) ([]sdk.ArtifactVersion, error) {
	f.planned <- req
	return []sdk.ArtifactVersion{{Version: req.Target.App.Image}}, nil
}

func (f *fleet) DetermineStrategy(_ context.Context, req *fleetPlan) (*sdk.Strategy, error) {
	f.planned <- req
	return nil, nil
}

func (*fleet) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[fleetConfig]) ([]sdk.Stage, error) {
	return sdk.CopyStages(req.Stages), nil
}

func (*fleet) BuildQuickSyncStages(_ context.Context, req *sdk.QuickSyncRequest[fleetConfig]) ([]sdk.Stage, error) {
	return []sdk.Stage{{Name: "FLEET_SYNC", Desc: "Sync to " + req.Config.Region}}, nil
}

func (f *fleet) ExecuteStage(_ context.Context, req *fleetExecute) (sdk.Result, error) {
	f.executed <- req
	return sdk.Success, nil
}

func (f *fleet) GetLivestate(_ context.Context,
	req *sdk.LivestateRequest[fleetConfig, fleetTarget, fleetApp]) (*sdk.Livestate, error) {
	return &sdk.Livestate{Resources: []*sdk.ResourceState{
		{ID: "1", Name: req.Targets[0].Config.Address, Health: sdk.Healthy},
		{ID: "2", Name: "sick", Health: sdk.Unhealthy},
	}}, nil
}

func (f *fleet) GetPlanPreview(_ context.Context,
	req *sdk.PlanPreviewRequest[fleetConfig, fleetTarget, fleetApp]) ([]sdk.PlanPreview, error) {
	if req.Target.App.Image == "lost" {
		return []sdk.PlanPreview{{Target: "three"}}, nil
	}
	var previews []sdk.PlanPreview
	for _, target := range req.Targets {
		p := sdk.PlanPreview{Target: target.Name, Summary: req.Target.App.Image,
			NoChange: req.Running != nil && req.Running.App.Image == req.Target.App.Image}
		if !p.NoChange {
			p.Details = "+" + req.Target.App.Image + "\n"
		}
		previews = append(previews, p)
	}
	return previews, nil
}

func fleetOptions() wiretest.Options {
	return wiretest.Options{
		Name:   "fleet",
		Config: fleetConfig{Region: "north"},
		DeployTargets: []sdk.DeployTargetConfig{
			{Name: "one", Config: json.RawMessage(`{"address":"a:1"}`)},
			{Name: "two", Labels: map[string]string{"env": "dev"}, Config: json.RawMessage(`{"address":"a:2"}`)},
		},
	}
}
