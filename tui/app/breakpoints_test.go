// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// pausing is the example environment with breakpoints; its deployment is paused before the stage s4.
func pausing() []proto.Message {
	environment := decktest.Environment()
	environment.Breakpoints = []*deckv1.Breakpoint{
		{When: deckv1.Breakpoint_WHEN_BEFORE, Application: "hello-world", Stage: "K8S_PRIMARY_ROLLOUT"},
		{When: deckv1.Breakpoint_WHEN_AFTER, Stage: "WAIT"}, {When: deckv1.Breakpoint_WHEN_FAILURE, Stage: "*"},
		{When: deckv1.Breakpoint_WHEN_BEFORE, Application: "another", Stage: "*"},
	}
	d := decktest.Canary()
	approved := d.GetStages()[2]
	approved.Status, approved.CompletedAt = deckv1.StageStatus_STAGE_STATUS_SUCCESS, decktest.At(14)
	approved.CanApprove, approved.CanSkip = false, false
	d.GetStages()[3].Pause = &deckv1.StagePause{
		When: deckv1.Breakpoint_WHEN_BEFORE, Since: decktest.At(14), Attempt: 1,
		Directory: "/tmp/sources/1/hello-world", Options: `{"prune":true}`, DeployTargets: []string{"kubernetes/local"},
	}
	objects := []proto.Message{environment, decktest.Application(), d}
	for _, c := range decktest.Components() {
		objects = append(objects, c)
	}
	return objects
}

func TestAPausedStageAndTheBreakpointsAreShown(t *testing.T) {
	t.Parallel()
	for name, environ := range map[string][]string{"paused": nil, "paused-ascii": {"TERM=linux", "NO_COLOR=1"}} {
		m := still(t, environ...)
		m.size(120, 36)
		m.see(pausing()...)
		m.shows(t, name)
		m.key("b")
		m.shows(t, name+"-menu")
		m.key("esc", "i")
		m.shows(t, name+"-inspector")
	}
}

func TestAUserGoesOnAfterABreakpointAndChangesOthers(t *testing.T) {
	t.Parallel()
	request := func(how deckv1.ContinueStageRequest_How) *deckv1.ContinueStageRequest {
		return &deckv1.ContinueStageRequest{DeploymentId: "dep-1", StageId: "s4", How: how, Commander: "ada"}
	}
	after := pausing()
	p := after[2].(*deckv1.Deployment).GetStages()[3]
	p.Status, p.StartedAt = deckv1.StageStatus_STAGE_STATUS_RUNNING, decktest.At(14)
	p.Pause.When, p.Pause.Result = deckv1.Breakpoint_WHEN_AFTER, "success"
	for name, r := range map[string]row{
		"run it":  {keys: "b1", in: pausing(), call: request(deckv1.ContinueStageRequest_HOW_CONTINUE)},
		"skip it": {keys: "b2", in: pausing(), call: request(deckv1.ContinueStageRequest_HOW_SKIP)},
		"cancel": {keys: "b3", in: pausing(), call: &deckv1.CancelDeploymentRequest{DeploymentId: "dep-1",
			Commander: "ada"}},
		"clear": {keys: "b4", in: pausing(), call: &deckv1.ChangeBreakpointsRequest{Clear: []*deckv1.Breakpoint{{
			When: deckv1.Breakpoint_WHEN_BEFORE, Application: "hello-world", Stage: "K8S_PRIMARY_ROLLOUT"}}}},
		"set": {keys: "b5", in: pausing(), call: &deckv1.ChangeBreakpointsRequest{Set: []*deckv1.Breakpoint{{
			When: deckv1.Breakpoint_WHEN_AFTER, Application: "hello-world", Stage: "K8S_PRIMARY_ROLLOUT"}}}},
		"end it":    {keys: "b1", in: after, call: request(deckv1.ContinueStageRequest_HOW_CONTINUE)},
		"run again": {keys: "b2", in: after, call: request(deckv1.ContinueStageRequest_HOW_AGAIN)},
		"nothing":   {keys: "b\r2y", in: pausing(), sees: "copied the id of the deployment"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.works(t)
		})
	}
}

func TestAPauseNamesTheCommandsThatGoOn(t *testing.T) {
	t.Parallel()
	m := still(t)
	m.size(120, 36)
	m.see(pausing()...)
	require.Equal(t, "pipedeck continue hello-world K8S_PRIMARY_ROLLOUT", m.actions.same("break"))
	require.Equal(t, 1, m.link.deck.Attention().Waiting, "it counts among those that wait for the user")
}
