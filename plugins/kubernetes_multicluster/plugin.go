// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/engine"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/stage"
	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// plugin answers piped.
type plugin struct {
	*engine.Engine
	engine.StagePlan
	// known are all deploy targets of the plugin.
	known []stage.Target
}

// Start takes the plugin's own configuration.
func (p *plugin) Start(ctx context.Context, env *sdk.Env[config.Plugin, config.DeployTarget]) error {
	p.known = env.Targets
	return p.Engine.Start(ctx, env)
}

func newPlugin(e *engine.Engine) engine.Plugin {
	return &plugin{Engine: e, StagePlan: engine.StagePlan{
		Name: config.MultiName, Check: checkOptions, SyncText: "Sync by applying all manifests at every deploy target",
	}}
}

// checkOptions checks the options of a stage: those for many clusters, and those that it has for a single one.
func checkOptions(name string, options []byte) error {
	single, _ := config.SingleName(name)
	_, err := config.DecodeMulti(name, options)
	if err == nil {
		err = config.CheckOptions(single, options)
	}
	return inMultiWords(err)
}
