// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest

import (
	"context"
	"testing"

	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// Options describe the plugin's entry in the piped configuration.
type Options struct {
	// Name is "plugin" when empty.
	Name string
	// Config is marshalled to JSON; nil is no configuration.
	Config        any
	DeployTargets []sdk.DeployTargetConfig
	// OldPiped makes Piped answer as PipeCD's own, which cannot push commands. The plugin then asks
	// every few milliseconds instead of every five seconds.
	OldPiped bool
	// Piped is that of an earlier Harness, with all that was reported to it: the plugin is started again.
	// nil is a new one. OldPiped is then that of the earlier one.
	Piped *Piped
}

// Harness is a plugin that runs, and the questions that piped asks it.
type Harness struct {
	// Piped is what the plugin talks to.
	Piped *Piped

	wire    *wiretest.Harness
	targets []string
}

// Start serves the plugin in this process until the test ends.
func Start(t testing.TB, plugin sdk.Plugin, opts Options) *Harness {
	t.Helper()
	return newHarness(wiretest.Start(t, plugin, opts.wire()), opts)
}

// StartProgram runs the program of a plugin, in whatever language it is written, as PipeCD's piped does: with
// the same command line, on a port of 127.0.0.1. It returns when the plugin answers, and ends it with the
// test. Stop sends SIGTERM; a program that has not ended after 20 seconds is killed and fails the test.
func StartProgram(t testing.TB, path string, opts Options) *Harness {
	t.Helper()
	return newHarness(wiretest.StartProgram(t, path, opts.wire()), opts)
}

func (o Options) wire() wiretest.Options {
	wire := wiretest.Options{Name: o.Name, Config: o.Config, DeployTargets: o.DeployTargets, OldPiped: o.OldPiped}
	if o.Piped != nil {
		wire.Piped = o.Piped.wire
	}
	return wire
}

func newHarness(wire *wiretest.Harness, opts Options) *Harness {
	h := &Harness{Piped: &Piped{wire: wire.Piped, calls: &calls{}}, wire: wire}
	if opts.Piped != nil {
		h.Piped = opts.Piped
	}
	for _, target := range opts.DeployTargets {
		h.targets = append(h.targets, target.Name)
	}
	return h
}

// Stop ends the plugin as SIGTERM does and waits for it.
func (h *Harness) Stop() error { return h.wire.Stop() }

// Stages are the stages that the plugin owns.
func (h *Harness) Stages(ctx context.Context) ([]string, error) {
	resp, err := h.wire.Deployment.FetchDefinedStages(ctx, &deployment.FetchDefinedStagesRequest{})
	return resp.GetStages(), err
}

// Plan asks for the stages of a pipeline of these configured ones, in their order, with rollback. Index is
// filled in; empty Options are {}.
func (h *Harness) Plan(ctx context.Context, configured ...sdk.StageConfig) ([]sdk.Stage, error) {
	stages, err := h.wire.Plan(ctx, configured...)
	return stagesOf(stages), err
}

// PlanQuickSync asks for the stages of a quick sync, with rollback.
func (h *Harness) PlanQuickSync(ctx context.Context) ([]sdk.Stage, error) {
	resp, err := h.wire.Deployment.BuildQuickSyncStages(ctx, &deployment.BuildQuickSyncStagesRequest{Rollback: true})
	return stagesOf(resp.GetStages()), err
}

// Change is what a deployment changes: from the commit that runs, nil before the first deployment, to another.
type Change struct{ Running, Target *Commit }

// Versions asks which versions the change brings out.
func (h *Harness) Versions(ctx context.Context, change Change) ([]sdk.ArtifactVersion, error) {
	resp, err := h.wire.Deployment.DetermineVersions(ctx, &deployment.DetermineVersionsRequest{Input: h.plan(change)})
	return versionsOf(resp.GetVersions()), err
}

// Strategy asks how the change should be brought out.
func (h *Harness) Strategy(ctx context.Context, change Change) (*sdk.Strategy, error) {
	resp, err := h.wire.Deployment.DetermineStrategy(ctx, &deployment.DetermineStrategyRequest{Input: h.plan(change)})
	if err != nil {
		return nil, err
	}
	return &sdk.Strategy{Sync: sdk.SyncStrategy(resp.GetSyncStrategy()), Summary: resp.GetSummary(),
		Unsupported: resp.GetUnsupported()}, nil
}

func (h *Harness) plan(change Change) *deployment.PlanPluginInput {
	return &deployment.PlanPluginInput{
		Deployment:              h.wire.Request("PLAN", "").GetInput().GetDeployment(),
		RunningDeploymentSource: change.Running.wire(), TargetDeploymentSource: change.Target.wire(),
	}
}
