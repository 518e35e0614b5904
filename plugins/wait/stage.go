// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

const stageWait = "WAIT"

// startTimeKey is the stage metadata with the start of the first attempt in unix seconds (PipeCD v1).
const startTimeKey sdk.StageKey[sdk.Text] = "startTime"

// minProgress is the shortest time between two progress lines.
const minProgress = 10 * time.Second

// config is the plugin's part of the piped configuration.
type config struct {
	// AllowSkip makes the stages offer a skip to users. Default false. PipeCD does not read it.
	AllowSkip bool `json:"allowSkip"`
}

// options are a WAIT stage's "with".
type options struct {
	// Duration is how long to wait.
	Duration sdk.Duration `json:"duration" jsonschema:"required,exclusiveMinimum=0,withinTimeout"`
}

// Validate refuses a wait without a length.
func (o *options) Validate() error {
	if o.Duration <= 0 {
		return errors.New("duration is required and has to be more than 0, such as \"30s\"")
	}
	return nil
}

// clock is where the plugin gets the time from.
type clock struct {
	now   func() time.Time
	after func(time.Duration) <-chan time.Time
}

type plugin struct {
	clock clock
}

var (
	_ sdk.StagePlugin[config] = (*plugin)(nil)
	_ sdk.SourceUser          = (*plugin)(nil)
)

// Stages names the one stage.
func (*plugin) Stages() []string { return []string{stageWait} }

// Sources: a wait inspects no file.
func (*plugin) Sources(string) sdk.Sources { return sdk.NoSources }

// BuildPipelineStages refuses a wrong duration before anything is deployed.
func (*plugin) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[config]) ([]sdk.Stage, error) {
	stages := sdk.CopyStages(req.Stages)
	for i, configured := range req.Stages {
		if _, err := sdk.DecodeOptions[options](configured.Options); err != nil {
			return nil, fmt.Errorf("stage %d (%s): %w", configured.Index, configured.Name, err)
		}
		if req.Config.AllowSkip {
			stages[i].Operation = sdk.OperationSkip
		}
	}
	return stages, nil
}

// ExecuteStage waits until the duration has passed since the first run of the stage.
func (p *plugin) ExecuteStage(ctx context.Context, req *sdk.StageRequest[config]) (sdk.Result, error) {
	opts, err := sdk.DecodeOptions[options](req.Options)
	if err != nil {
		return sdk.Failure, err
	}
	start, resumed, err := p.startTime(ctx, req.Client)
	if err != nil {
		return sdk.Failure, err
	}
	duration := opts.Duration.Std()
	end := start.Add(duration)
	if resumed {
		req.Log.Infof("Going on with the wait of %s that began at %s", duration, start.UTC().Format(time.RFC3339))
	} else {
		req.Log.Infof("Waiting for %s, until %s", duration, end.UTC().Format(time.RFC3339))
		if err := req.Client.Display(ctx,
			"Until "+end.UTC().Format("15:04:05 MST")); err != nil {
			return sdk.Failure, err
		}
	}
	return p.wait(ctx, req, start, duration)
}

// wait returns at the end of the time, of the context, or at a skip.
func (p *plugin) wait(ctx context.Context, req *sdk.StageRequest[config], start time.Time,
	duration time.Duration) (sdk.Result, error) {
	commands := req.Client.Commands(ctx)
	step := max(duration/10, minProgress)
	for {
		elapsed := p.clock.now().Sub(start)
		left := duration - elapsed
		if left <= 0 {
			req.Log.Successf("Waited for %s", duration)
			return sdk.Success, nil
		}
		untilLine := step - elapsed%step
		select {
		case <-p.clock.after(min(left, untilLine)):
			if left > untilLine {
				elapsed = p.clock.now().Sub(start)
				req.Log.Infof("%s of %s have passed", elapsed.Round(time.Second), duration)
			}
		case command, ok := <-commands:
			if !ok {
				return sdk.Failure, sdk.StopCause(ctx)
			}
			if command.Operation == sdk.OperationSkip {
				return sdk.Skipped, p.skipped(ctx, req, command.Commander, elapsed)
			}
		case <-ctx.Done():
			return sdk.Failure, sdk.StopCause(ctx)
		}
	}
}

func (p *plugin) skipped(ctx context.Context, req *sdk.StageRequest[config], commander string,
	elapsed time.Duration) error {
	req.Log.Infof("%s skipped the rest of the wait after %s", commander, elapsed.Round(time.Second))
	return req.Client.Display(ctx, "Skipped by "+commander)
}

// startTime returns the start of the run, which is now unless an earlier attempt stored it.
func (p *plugin) startTime(ctx context.Context, client sdk.StageClient) (start time.Time, resumed bool, err error) {
	stored, found, err := startTimeKey.Get(ctx, client)
	if err != nil {
		return time.Time{}, false, err
	}
	if found {
		if seconds, err := strconv.ParseInt(string(stored), 10, 64); err == nil {
			return time.Unix(seconds, 0), true, nil
		}
	}
	start = p.clock.now()
	return start, false, startTimeKey.Put(ctx, client, sdk.Text(strconv.FormatInt(start.Unix(), 10)))
}
