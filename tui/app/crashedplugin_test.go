// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// greeting is a stage of a plugin under development, which has crashed twice and is silent now.
func greeting(t *testing.T, width, height int) *model {
	t.Helper()
	m := still(t)
	m.size(width, height)
	m.see(append(decktest.Running(), decktest.Crashed())...)
	d := decktest.Canary()
	stage := d.GetStages()[2]
	stage.Name, stage.Desc, stage.CanApprove, stage.Approvers, stage.Display = "GREET", "", false, nil, ""
	stage.Plugin, stage.Build, stage.SilentSince = "greeter", decktest.Crashed().GetBuild(), decktest.At(12)
	m.receive(d)
	m.chosen.pinStage(stage.GetId())
	return m
}

func TestBuildsExitsAndSilenceAreShown(t *testing.T) {
	t.Parallel()
	m := greeting(t, 120, 40)
	m.shows(t, "silent-120x40")
	m.key("i")
	m.shows(t, "inspector-crashed-120x40")
	m.key("esc")

	m = greeting(t, 100, 30)
	m.key("4", "k", "k", "k", "k")
	m.shows(t, "plugins-crashed-100x30")
}

func TestAPlanThatWaitsForAPluginNamesIt(t *testing.T) {
	t.Parallel()
	m := still(t)
	m.size(100, 30)
	m.see(decktest.Running()...)
	d := decktest.Canary()
	d.Status, d.Stages = deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING, nil
	d.PlanningWaitsFor, d.PlanningSince = "greeter", decktest.At(10)
	m.receive(d)
	m.shows(t, "planning-waits-100x30")
}
