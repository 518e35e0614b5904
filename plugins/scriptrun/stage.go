// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/system/servicefile"
)

const (
	stageScriptRun         = "SCRIPT_RUN"
	stageScriptRunRollback = "SCRIPT_RUN_ROLLBACK"
)

// options are a SCRIPT_RUN stage's "with".
type options struct {
	// Run is the script, for /bin/sh.
	Run string `json:"run" jsonschema:"required"`
	// Env is the environment of the script.
	Env variables `json:"env"`
	// OnRollback is the script that a rollback runs.
	OnRollback string `json:"onRollback"`
}

// variables are environment variables by their names.
type variables map[string]string

// JSONSchema refuses names that no variable can have.
func (variables) JSONSchema() map[string]any {
	return map[string]any{
		"type": "object", "additionalProperties": false,
		"patternProperties":   map[string]any{`^[^=\x00]+$`: map[string]any{"type": []string{"string", "null"}}},
		"patternErrorMessage": "the name of an environment variable, which is not empty and holds no =",
	}
}

// Validate refuses a stage that has nothing to run.
func (o *options) Validate() error {
	if strings.TrimSpace(o.Run) == "" {
		return errors.New("run is required: the script to run")
	}
	for name := range o.Env {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return fmt.Errorf("env has the name %q, which is not that of an environment variable", name)
		}
	}
	return nil
}

type plugin struct {
	stopGrace time.Duration
}

var (
	_ sdk.StagePlugin[sdk.None] = (*plugin)(nil)
	_ sdk.SourceUser            = (*plugin)(nil)
)

// Stages names both stages.
func (*plugin) Stages() []string { return []string{stageScriptRun, stageScriptRunRollback} }

// Sources: scripts run in the directory of the application.
func (*plugin) Sources(string) sdk.Sources { return sdk.TargetSource }

// BuildPipelineStages adds a rollback stage for each stage with an onRollback script.
func (*plugin) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[sdk.None]) ([]sdk.Stage, error) {
	var stages []sdk.Stage
	for _, configured := range req.Stages {
		opts, err := sdk.DecodeOptions[options](configured.Options)
		if err != nil {
			return nil, fmt.Errorf("stage %d (%s): %w", configured.Index, configured.Name, err)
		}
		stages = append(stages, sdk.Stage{Name: configured.Name, Index: configured.Index})
		if req.Rollback && opts.OnRollback != "" {
			stages = append(stages, sdk.Stage{
				Name: stageScriptRunRollback, Index: configured.Index, Rollback: true,
			})
		}
	}
	return stages, nil
}

// ExecuteStage runs the script, or the rollback script of a stage that had started.
func (p *plugin) ExecuteStage(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
	opts, err := sdk.DecodeOptions[options](req.Options)
	if err != nil {
		return sdk.Failure, err
	}
	// PipeCD v1: this key and value show the rollback stage that its stage had started.
	started := sdk.DeploymentKey[sdk.Text](fmt.Sprintf("started-%d", req.Stage.Index))
	switch req.Stage.Name {
	case stageScriptRun:
		if err := started.Put(ctx, req.Client, "_"); err != nil {
			return sdk.Failure, err
		}
		return p.run(ctx, req, opts.Run, opts.Env, false)
	case stageScriptRunRollback:
		_, found, err := started.Get(ctx, req.Client)
		if err != nil {
			return sdk.Failure, err
		}
		if !found {
			req.Log.Info("Nothing to roll back: the script of this stage had not been started")
			return sdk.Success, nil
		}
		return p.run(ctx, req, opts.OnRollback, opts.Env, true)
	default:
		return sdk.Failure, fmt.Errorf("stage %q is not one of this plugin's", req.Stage.Name)
	}
}

// run runs one script to its end.
func (p *plugin) run(ctx context.Context, req *sdk.StageRequest[sdk.None], text string, env map[string]string,
	rollback bool) (sdk.Result, error) {
	addresses, err := servicefile.Read()
	if err != nil {
		req.Log.Infof("The script does not get the addresses of services: %v", err)
	}
	environ, err := environment(req.Deployment, env, addresses, rollback)
	if err != nil {
		return sdk.Failure, err
	}
	output := req.Log.Lines()
	end := &tail{to: output}
	s := script{text: text, env: environ, output: end, stopGrace: p.stopGrace}
	if req.Target != nil {
		s.dir = req.Target.Dir
	}
	req.Log.Info("Running the script:\n" + indent(text))
	begin := time.Now()
	outcome, err := s.run(ctx)
	_ = output.Close()
	if err != nil {
		return sdk.Failure, err
	}
	if outcome.detached {
		req.Log.Info("The script has ended but left processes behind that keep its output open; the stage does " +
			"not wait for them")
	}
	if outcome.left != nil {
		req.Log.Errorf("Processes of the script live on: %v", outcome.left)
	}
	if outcome.stopped {
		req.Log.Infof("The script was ended (%s)", outcome.how)
		return sdk.Failure, sdk.StopCause(ctx)
	}
	took := time.Since(begin).Round(time.Millisecond)
	if !outcome.success {
		err := fmt.Errorf("the script failed after %s: %s", took, outcome.how)
		if last := end.last(); last != "" {
			err = fmt.Errorf("%w; its last output: %s", err, last)
		}
		if program := missingProgram(outcome.exitCode, end.kept, s.dir); program != "" {
			err = sdk.WithCause(fmt.Errorf("%w: the program %s is not installed on the machine of piped", err, program),
				sdk.Cause{Kind: sdk.CauseNoProgram})
		}
		return sdk.Failure, err
	}
	req.Log.Successf("The script succeeded after %s", took)
	return sdk.Success, nil
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ")
}
