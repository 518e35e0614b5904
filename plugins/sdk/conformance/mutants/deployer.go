// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// runDeployer brings a file of an application to deploy targets, with a mistake or without.
func runDeployer() { sdk.Main(sdk.ForDeployment(&deployer{changes: sdk.NewLivestateChanges()})) }

type (
	place struct {
		Path string `json:"path"`
		// Work is a directory for what a mistake writes.
		Work string `json:"work"`
	}
	source = sdk.Source[sdk.None]
	at     = sdk.DeployTarget[place]
)

const (
	deployStage  = "DEPLOY"
	deployBack   = "DEPLOY_ROLLBACK"
	deployedFile = "page.txt"
	private      = 0o600
)

type deployer struct {
	changes *sdk.LivestateChanges
	all     []at
}

// Start keeps the deploy targets for those that mistake them.
func (d *deployer) Start(_ context.Context, env *sdk.Env[sdk.None, place]) error {
	if len(env.Targets) == 0 {
		return errors.New("there is no deploy target")
	}
	d.all = env.Targets
	return nil
}

func (*deployer) Stages() []string { return []string{deployStage, deployBack} }

// DetermineVersions names the size of the file.
func (*deployer) DetermineVersions(_ context.Context,
	req *sdk.PlanRequest[sdk.None, place, sdk.None]) ([]sdk.ArtifactVersion, error) {
	from := req.Target
	if makes("deploys-version-of-running") && req.Running != nil {
		from = req.Running
	}
	text, err := content(from)
	return []sdk.ArtifactVersion{{Name: deployedFile, Version: strconv.Itoa(len(text))}}, err
}

func (*deployer) DetermineStrategy(context.Context,
	*sdk.PlanRequest[sdk.None, place, sdk.None]) (*sdk.Strategy, error) {
	return nil, nil
}

func (*deployer) BuildQuickSyncStages(_ context.Context, req *sdk.QuickSyncRequest[sdk.None]) ([]sdk.Stage, error) {
	stages := []sdk.Stage{{Name: deployStage}}
	if req.Rollback && !makes("deploys-quick-for-good") {
		stages = append(stages, sdk.Stage{Name: deployBack, Rollback: true})
	}
	return stages, nil
}

func (*deployer) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[sdk.None]) ([]sdk.Stage, error) {
	stages := sdk.CopyStages(req.Stages)
	if req.Rollback && len(req.Stages) > 0 && !makes("deploys-for-good") {
		stages = append(stages, sdk.Stage{Name: deployBack, Index: req.Stages[0].Index, Rollback: true})
	}
	return stages, nil
}

func (d *deployer) ExecuteStage(_ context.Context,
	req *sdk.ExecuteRequest[sdk.None, place, sdk.None]) (sdk.Result, error) {
	if _, err := sdk.DecodeOptions[options](req.Options); err != nil {
		return sdk.Failure, err
	}
	from, targets := req.Target, req.Targets
	if req.Stage.Name == deployBack && !makes("deploys-at-rollback") {
		from = req.Running
	}
	switch {
	case makes("deploys-first-target"):
		targets = targets[:1]
	case makes("deploys-everywhere"):
		targets = d.all
	case makes("deploys-by-position"):
		targets = d.all[:len(targets)]
	case makes("deploys-to-two") && len(targets) < len(d.all):
		return sdk.Failure, errors.New("index out of range [1] with length 1")
	case makes("deploys-nothing"):
		targets = nil
	}
	for _, target := range targets {
		if from == nil && makes("deploys-first-for-good") {
			break
		}
		if err := put(target, from); err != nil && !makes("deploys-in-spite") {
			return sdk.Failure, err
		}
		req.Log.Infof("deployed to %s", target.Name)
	}
	if !makes("deploys-unnoticed") {
		d.changes.Mark(req.Deployment.Application.ID)
	}
	return sdk.Success, nil
}

// LivestateChanges reports each deployment.
func (d *deployer) LivestateChanges() *sdk.LivestateChanges { return d.changes }

func (d *deployer) GetLivestate(_ context.Context,
	req *sdk.LivestateRequest[sdk.None, place, sdk.None]) (*sdk.Livestate, error) {
	wanted, err := content(req.Source)
	if err != nil {
		return nil, err
	}
	state := &sdk.Livestate{Sync: &sdk.SyncState{Status: sdk.Synced}}
	for i, target := range req.Targets {
		resource := &sdk.ResourceState{ID: target.Name, Name: deployedFile, DeployTarget: target.Name,
			Health: sdk.Healthy}
		switch {
		case makes("deploys-without-health"):
			resource.Health = sdk.HealthUnknown
		case makes("deploys-live-elsewhere"):
			resource.DeployTarget = d.all[i].Name
		case makes("deploys-live-at-one") && i > 0:
			continue
		}
		state.Resources = append(state.Resources, resource)
		if makes("deploys-drift-always") || d.drifts(target, req.Targets, wanted) {
			state.Sync = &sdk.SyncState{Status: sdk.OutOfSync, ShortReason: "differs at " + target.Name}
		}
	}
	if makes("deploys-drift-silent") {
		state.Sync.ShortReason = ""
	}
	return state, nil
}

// drifts is whether a deploy target has something else than is wanted.
func (*deployer) drifts(target at, all []at, wanted string) bool {
	switch {
	case makes("deploys-drift-never", "deploys-unseen"),
		makes("deploys-drift-of-first") && target.Name != all[0].Name:
		return false
	}
	return present(target) != wanted
}

func (d *deployer) GetPlanPreview(_ context.Context,
	req *sdk.PlanPreviewRequest[sdk.None, place, sdk.None]) ([]sdk.PlanPreview, error) {
	wanted, err := content(req.Target)
	if err != nil {
		return nil, err
	}
	var previews []sdk.PlanPreview
	for _, target := range req.Targets {
		same := present(target) == wanted || makes("deploys-preview-blind", "deploys-unseen")
		preview := sdk.PlanPreview{Target: target.Name, NoChange: same, Summary: "the file changes"}
		if same {
			preview.Summary = "no change"
		}
		previews = append(previews, preview)
		if makes("deploys-at-preview") {
			err = errors.Join(err, put(target, req.Target))
		}
	}
	if makes("deploys-preview-notes") {
		work := req.Targets[0].Config.Work
		err = errors.Join(err, os.MkdirAll(work, private|0o100),
			os.WriteFile(filepath.Join(work, "plan"), []byte(wanted), private))
	}
	if makes("previews-one-target") {
		previews = previews[:1]
	}
	if makes("previews-into-source") {
		err = os.WriteFile(filepath.Join(req.Target.Dir, "plan.out"), nil, private)
	}
	return previews, err
}

func content(s *source) (string, error) {
	data, err := os.ReadFile(filepath.Join(s.Dir, deployedFile))
	return string(data), err
}

// present is what lies at a deploy target.
func present(target at) string {
	data, _ := os.ReadFile(target.Config.Path)
	return string(data)
}

// put brings the file of a source to a deploy target; no source is nothing.
func put(target at, from *source) error {
	if from == nil {
		return os.RemoveAll(target.Config.Path)
	}
	text, err := content(from)
	if err != nil {
		return err
	}
	return os.WriteFile(target.Config.Path, []byte(text), private)
}
