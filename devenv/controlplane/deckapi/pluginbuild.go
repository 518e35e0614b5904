// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

// build is nil where piped did not send it.
func build(b *agentv1.PluginBuild) *deckv1.PluginBuild {
	if b == nil {
		return nil
	}
	return &deckv1.PluginBuild{Hash: b.GetHash(), BuiltAt: b.GetBuiltAt(), Version: b.GetVersion()}
}

func exits(all []*agentv1.PluginExit) (list []*deckv1.PluginExit) {
	for _, e := range all {
		list = append(list, &deckv1.PluginExit{
			At: e.GetAt(), Reason: e.GetReason(), Error: e.GetError(), Stack: e.GetStack(), Place: e.GetPlace(),
			Build: build(e.GetBuild()), Pid: e.GetPid(), Uptime: e.GetUptime(), Injected: e.GetInjected(),
			Abandoned: e.GetAbandoned(),
		})
	}
	return list
}

// runBy is the plugin that executes the latest attempt of a stage, and its build; both are empty where piped did not
// send them.
func runBy(s *model.PipelineStage, run *deckv1.GetStageRunResponse) (plugin string, build *deckv1.PluginBuild) {
	attempts := run.GetAttempts()
	if len(attempts) == 0 {
		return "", nil
	}
	last := attempts[len(attempts)-1]
	if last.GetNumber() != s.GetRetriedCount()+1 || last.GetBuild() == nil {
		return "", nil
	}
	return run.GetPlugin(), last.GetBuild()
}
