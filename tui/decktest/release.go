// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package decktest

import (
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Release is an example deployment of 30 stages: three regions are built side by side, a person lets them pass, then
// they are deployed side by side. The canary of the first region runs.
func Release() *deckv1.Deployment {
	d := Canary()
	d.Id, d.Stages, d.CreatedAt = "dep-release", nil, At(1)
	add := func(id, desc string, requires ...string) *deckv1.Stage {
		stage := &deckv1.Stage{
			Id: id, ConfigId: id, Name: "SCRIPT_RUN", Desc: desc, Index: int32(len(d.Stages)), Requires: requires,
			Status: deckv1.StageStatus_STAGE_STATUS_NOT_STARTED,
		}
		d.Stages = append(d.Stages, stage)
		return stage
	}
	at := func(s float64) *timestamppb.Timestamp { return At(1 + s*0.35) } // so that all fits before Now
	done := func(stage *deckv1.Stage, from, to float64) {
		stage.Status, stage.StartedAt = deckv1.StageStatus_STAGE_STATUS_SUCCESS, at(from)
		stage.CompletedAt = at(to)
	}
	done(add("plan", "plan the release"), 0, 4)
	var pushed, clean []string
	for i, region := range []string{"eu", "us", "ap"} {
		later := float64(3 * i)
		done(add(region+"-build", "build for "+region, "plan"), 4, 24+later)
		done(add(region+"-unit", "test "+region, region+"-build"), 24+later, 54+later)
		done(add(region+"-scan", "scan "+region, region+"-build"), 24+later, 36+later)
		done(add(region+"-push", "push "+region, region+"-unit", region+"-scan"), 54+later, 59+later)
		pushed = append(pushed, region+"-push")
	}
	done(add("gate", "let the release pass", pushed...), 65, 110)
	for i, region := range []string{"eu", "us", "ap"} {
		before := "gate"
		for _, step := range []string{"canary", "smoke", "deploy", "verify", "clean"} {
			stage := add(region+"-"+step, step+" "+region, before)
			if step == "canary" && i == 0 {
				stage.Status, stage.StartedAt = deckv1.StageStatus_STAGE_STATUS_RUNNING, at(110)
			}
			before = stage.GetId()
		}
		clean = append(clean, before)
	}
	add("announce", "announce the release", clean...)
	return d
}
