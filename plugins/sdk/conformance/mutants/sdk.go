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
	if makes("sdk-prints-request") {
		fmt.Printf("%+v\n", req)
	}
	opts, err := sdk.DecodeOptions[options](req.Options)
	if err != nil {
		return sdk.Failure, err
	}
	if makes("sdk-sleeps") {
		return sleeps(ctx, req, time.Duration(opts.Steps)*time.Second)
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

const slept sdk.StageKey[int] = "slept"

// sleeps does not look at its cancel in the middle of its work, only in what it asks piped for before and after that.
func sleeps(ctx context.Context, req *sdk.StageRequest[sdk.None], long time.Duration) (sdk.Result, error) {
	if err := slept.Put(ctx, req.Client, 0); err != nil {
		return sdk.Failure, err
	}
	req.Log.Infof("working")
	time.Sleep(long)
	if err := slept.Put(ctx, req.Client, 1); err != nil {
		return sdk.Failure, err
	}
	return sdk.Success, nil
}
