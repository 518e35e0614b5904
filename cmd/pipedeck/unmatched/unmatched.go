// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package unmatched

import (
	"fmt"
	"slices"

	"github.com/pipedeck/pipedeck/piped/fault"
	"github.com/pipedeck/pipedeck/system/spelling"
	"github.com/pipedeck/pipedeck/tui/state"
	"github.com/pipedeck/pipedeck/tui/text"
)

// Stages are the types of stages that plugins have, and the types and ids in deployments; none while no plugin runs,
// which may have any.
func Stages(d *state.Deck) (known []string) {
	if d == nil {
		return nil
	}
	for _, plugin := range d.Plugins() {
		known = append(known, plugin.GetStages()...)
	}
	if len(known) == 0 {
		return nil
	}
	for _, application := range d.Applications() {
		for _, deployment := range d.Deployments(application.GetId()) {
			for _, stage := range deployment.GetStages() {
				known = append(known, stage.GetName())
				if stage.GetConfigId() != "" {
					known = append(known, stage.GetConfigId())
				}
			}
		}
	}
	return known
}

// Settled is whether the stages of all applications are known: plugins run, and each application has a deployment that
// is planned, or deploys by hand.
func Settled(d *state.Deck) bool {
	applications := d.Applications()
	for _, application := range applications {
		newest := d.Newest(application.GetId())
		planned := newest != nil && (len(newest.GetStages()) > 0 || state.Ended(newest.GetStatus()))
		if !planned && !application.GetManual() {
			return false
		}
	}
	return len(applications) > 0 && len(Stages(d)) > 0
}

// Matches is whether one of the known stages fits the stage of a fault or a breakpoint; without known stages any may.
func Matches(stage string, known []string) bool {
	return len(known) == 0 || stage == state.EveryStage || fault.Known(stage, known)
}

// Warnings has a line for each of the stages that none of the known fits.
func Warnings(stages, known []string) (lines []string) {
	for i, stage := range stages {
		if Matches(stage, known) || slices.Contains(stages[:i], stage) {
			continue
		}
		near := ""
		if name := spelling.Nearest(stage, known); name != "" {
			near = "; did you mean " + name + "?"
		}
		lines = append(lines, fmt.Sprintf("warning: nothing matches now: no plugin and no deployment has a stage %s%s",
			text.Line(stage), near))
	}
	return lines
}
