// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command dyingplugin is a plugin for tests: its stage DIE writes to its log and ends the process in the next moment,
// in the way that its options name.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

type plugin struct{}

// options are the "with" of the stage DIE.
type options struct {
	// Lines is how many entries it writes before it dies.
	Lines int `json:"lines"`
	// Text is what each of them says; "entry" with its number by default.
	Text string `json:"text"`
	// How is exit, panic (in a goroutine), kill, or empty for a stage that succeeds.
	How string `json:"how"`
}

func (plugin) Stages() []string { return []string{"DIE"} }

func (plugin) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[sdk.None]) ([]sdk.Stage, error) {
	var stages []sdk.Stage
	for _, configured := range req.Stages {
		stages = append(stages, sdk.Stage{Name: configured.Name, Index: configured.Index})
	}
	return stages, nil
}

func (plugin) ExecuteStage(_ context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
	opts, err := sdk.DecodeOptions[options](req.Options)
	if err != nil {
		return sdk.Failure, err
	}
	for i := range opts.Lines {
		req.Log.Info(cmp.Or(opts.Text, fmt.Sprint("entry ", i+1)))
	}
	if opts.How == "" {
		return sdk.Success, nil
	}
	if _, err := io.WriteString(req.Log, "a whole line\nhalf a line"); err != nil {
		return sdk.Failure, err
	}
	other := req.Log.Prefixed("[east] ")
	if _, err := fmt.Fprint(other, "replaced"); err != nil {
		return sdk.Failure, err
	}
	if _, err := fmt.Fprint(other, ", not repeated\nunfinished"); err != nil {
		return sdk.Failure, err
	}
	switch opts.How {
	case "exit":
		os.Exit(3)
	case "panic":
		go func() { panic("the moon fell down") }()
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	select {}
}

func main() { sdk.Main(sdk.ForStages(plugin{})) }
