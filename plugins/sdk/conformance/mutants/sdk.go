// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// runSDK makes mistakes that the SDK cannot prevent.
func runSDK() {
	if makes("sdk-prints-config") {
		fmt.Fprintln(os.Stderr, os.Args)
	}
	sdk.Main(sdk.ForStages(careless{}))
}

type careless struct{}

func (careless) Stages() []string { return []string{work} }

func (careless) BuildPipelineStages(_ context.Context, req *sdk.PipelineRequest[sdk.None]) ([]sdk.Stage, error) {
	return sdk.CopyStages(req.Stages), nil
}

func (careless) ExecuteStage(ctx context.Context, req *sdk.StageRequest[sdk.None]) (sdk.Result, error) {
	if _, err := sdk.DecodeOptions[options](req.Options); err != nil {
		return sdk.Failure, err
	}
	req.Log.Infof("working")
	if makes("sdk-leaks-goroutines") {
		go func() { select {} }()
	}
	if makes("sdk-ignores-cancel") {
		time.Sleep(300 * time.Millisecond)
	}
	for began := time.Now(); makes("sdk-ignores-cancel") && ctx.Err() != nil && time.Since(began) < time.Minute; {
		req.Log.Infof("still at it")
		time.Sleep(100 * time.Millisecond)
	}
	return sdk.Success, nil
}
