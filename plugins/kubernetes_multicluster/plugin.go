// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"github.com/pipedeck/pipedeck/plugins/kubernetes/config"
	"github.com/pipedeck/pipedeck/plugins/kubernetes/engine"
)

// plugin answers piped.
type plugin struct {
	*engine.Engine
	engine.StagePlan
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
