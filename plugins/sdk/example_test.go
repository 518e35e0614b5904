// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// greeter is a plugin with one stage.
type greeter struct{}

type greeterConfig struct {
	Greeting string `json:"greeting"`
}

type greetOptions struct {
	Names []string     `json:"names"`
	Pause sdk.Duration `json:"pause"`
}

// Validate is called after decoding.
func (o *greetOptions) Validate() error {
	if len(o.Names) == 0 {
		return errors.New("names is required, such as [Ada, Grace]")
	}
	return nil
}

// greeted is how many are behind an attempt at the stage; the next attempt goes on from there.
const greeted sdk.StageKey[int] = "greeted"

func (greeter) Stages() []string { return []string{"GREET"} }

func (greeter) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[greeterConfig]) ([]sdk.Stage, error) {
	for _, stage := range req.Stages {
		if _, err := sdk.DecodeOptions[greetOptions](stage.Options); err != nil {
			return nil, fmt.Errorf("stage %d (%s): %w", stage.Index, stage.Name, err)
		}
	}
	return sdk.CopyStages(req.Stages), nil
}

func (greeter) ExecuteStage(ctx context.Context, req *sdk.StageRequest[greeterConfig]) (sdk.Result, error) {
	opts, err := sdk.DecodeOptions[greetOptions](req.Options)
	if err != nil {
		return sdk.Failure, err
	}
	first, _, err := greeted.Get(ctx, req.Client)
	if err != nil {
		return sdk.Failure, err
	}
	for i := first; i < len(opts.Names); i++ {
		req.Log.Infof("%s, %s!", req.Config.Greeting, opts.Names[i])
		if err := greeted.Put(ctx, req.Client, i+1); err != nil {
			return sdk.Failure, err
		}
		select {
		case <-time.After(opts.Pause.Std()):
		case <-ctx.Done():
			return sdk.Failure, sdk.StopCause(ctx)
		}
	}
	return sdk.Success, nil
}

// A plugin that only has stages. Its main is one line.
func ExampleForStages() {
	plugin := sdk.ForStages(greeter{}).WithVersion("v1.2.0")
	fmt.Println(plugin.Version())
	// main is: sdk.Main(plugin)

	// Output: v1.2.0
}

func ExampleDecodeOptions() {
	opts, err := sdk.DecodeOptions[greetOptions](json.RawMessage(`{"names": ["Ada"], "pause": "90s"}`))
	fmt.Println(opts.Names, opts.Pause, err)

	_, err = sdk.DecodeOptions[greetOptions](json.RawMessage(`{"names": "Ada"}`))
	fmt.Println(err)

	// Output:
	// [Ada] 1m30s <nil>
	// the stage's "with" is not valid: names must be a list, not a string
}

func ExampleDecodeStrict() {
	_, err := sdk.DecodeStrict[greetOptions](json.RawMessage(`{"names": ["Ada"], "pasue": "90s"}`))
	fmt.Println(err)
	// Output: the stage's "with" is not valid: pasue: unknown key; known there: names, pause
}

func ExampleFindTarget() {
	targets := []sdk.DeployTarget[sdk.None]{{Name: "east"}, {Name: "west"}}
	_, err := sdk.FindTarget(targets, "north")
	fmt.Println(err)
	// Output: there is no deploy target "north", only east, west
}

func ExampleTargetsWith() {
	targets := []sdk.DeployTarget[sdk.None]{
		{Name: "east", Labels: map[string]string{"env": "prod"}},
		{Name: "lab", Labels: map[string]string{"env": "dev"}},
	}
	for _, target := range sdk.TargetsWith(targets, map[string]string{"env": "prod"}) {
		fmt.Println(target.Name)
	}
	// Output: east
}

func ExampleSource_Pipeline() {
	source := sdk.Source[sdk.None]{ConfigData: []byte(`
spec:
  pipeline:
    stages:
      - {name: GREET, with: {names: [Ada]}}
      - {name: WAIT, with: {duration: 5m}}
`)}
	stages, err := source.Pipeline()
	for _, stage := range stages {
		fmt.Println(stage.Index, stage.Name, string(stage.Options))
	}
	fmt.Println(err)
	// Output:
	// 0 GREET {"names":["Ada"]}
	// 1 WAIT {"duration":"5m"}
	// <nil>
}

func ExampleProgress() {
	fmt.Println(sdk.Progress{Done: 3, Total: 10, Text: "pods are ready"})
	fmt.Println(sdk.Progress{Done: 40, Total: 100})
	// Output:
	// 3 of 10: pods are ready
	// 40%
}
