// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

func TestAFaultIsGivenToTheNextRunOfTheSelectedStage(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	app := decktest.Application()
	app.PipedId = "piped-1"
	piped := &deckv1.Piped{Id: "piped-1", Name: "p1", Own: true, TakesFaults: true}
	server.Publish(app, piped)
	p := &program{ran: make(chan []string, 9), answers: map[string]string{"fault ": "a fault waits"}}
	s := session{client: dial(t, server), width: 120, height: 40, command: p.command}.start(t, t.Context())
	s.seesText("press a to approve")
	s.types("K")
	s.seesText("Fault in the next run of WAIT_APPROVAL", "its plugin is killed at its first call")
	s.types("jj")
	s.seesText("As a command: pipedeck fault add --app hello-world 'WAIT_APPROVAL: kill@log 3'")
	s.types("\r")
	s.seesText("a fault waits for WAIT_APPROVAL: WAIT_APPROVAL: kill@log 3")
	require.Equal(t, []string{"fault", "add", "--app", "hello-world", "WAIT_APPROVAL: kill@log 3"}, <-p.ran)

	piped.Faults = []*deckv1.Fault{
		{Id: "ab-1", Rule: "WAIT_APPROVAL: kill@log 3", Stage: "WAIT_APPROVAL", ApplicationId: app.GetId()},
		{Id: "ab-2", Rule: "cluster: hang"}, {Id: "ab-3", Rule: "control-plane: delay 1s"},
		{Id: "ab-4", Rule: "WAIT_APPROVAL: hang", Stage: "WAIT_APPROVAL", ApplicationId: "another"},
	}
	server.Publish(piped)
	s.types("i")
	s.seesText("next run    fault: WAIT_APPROVAL: kill@log 3, cluster: hang")
	s.types("K")
	s.seesText("Waits already: WAIT_APPROVAL: kill@log 3 and 1 more", "none: remove 2 faults that wait")
	s.types("1")
	s.seesText("no fault waits for WAIT_APPROVAL")
	require.Equal(t, []string{"fault", "clear", "ab-1", "ab-2"}, <-p.ran)
}

func TestWhyNoFaultCanBeGiven(t *testing.T) {
	t.Parallel()
	m := waiting(t, 100, 30)
	require.Equal(t, noCommands, injectionsOf(&m.actions).refusal(m.chosen.stage()))
	m.host.cfg.Command = (&program{}).command
	require.Equal(t, "its piped takes no faults", injectionsOf(&m.actions).refusal(m.chosen.stage()))
	require.Equal(t, "no stage is selected", injectionsOf(&m.actions).refusal(nil))
}

func TestFaultsOfAClusterAreOfferedForPluginsThatCallOne(t *testing.T) {
	t.Parallel()
	all := offersFor(&deckv1.Plugin{TakesClusterFaults: true})
	require.Contains(t, all, offer{"the cluster takes 5s for a call", "/cluster: delay 5s"})
	for _, plugin := range []*deckv1.Plugin{{}, nil} {
		some := offersFor(plugin)
		require.Len(t, some, len(all)-4)
		for _, one := range some {
			require.NotContains(t, one.rule, "cluster")
		}
	}
}
