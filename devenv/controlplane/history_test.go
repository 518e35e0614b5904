// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane"
)

func keepIn(file string) func(*controlplane.Config) {
	return func(c *controlplane.Config) { c.KeepFile = file }
}

func event(name string) *apiservice.RegisterEventRequest {
	return &apiservice.RegisterEventRequest{Name: name, Data: "v1"}
}

// problem waits until user interfaces see a problem of a part of the environment, or, empty, none.
func (p *plane) problem(t *testing.T, part, text string) {
	t.Helper()
	stream, err := p.deck.Watch(testContext(t), &deckv1.WatchRequest{})
	require.NoError(t, err)
	said, synced := "", false
	for !synced || (said != "") != (text != "") || !strings.Contains(said, text) {
		answer, err := stream.Recv()
		require.NoError(t, err, "of %s: want %q, got %q", part, text, said)
		for _, e := range answer.GetEvents() {
			problem := e.GetProblem()
			switch {
			case problem.GetPart() == part:
				said = problem.GetReason() + "\n" + problem.GetNextStep()
			case e.GetRemoved().GetProblemId() == part, e.GetReset_() != nil:
				said = ""
			}
			synced = synced || e.GetSynced() != nil
		}
	}
}

func TestCallsAreRefusedWhileTheHistoryIsADirectory(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "history")
	require.NoError(t, os.Mkdir(file, 0o700))
	p := start(t, keepIn(file))
	_, err := p.api.RegisterEvent(testContext(t), event("e"))
	require.Equal(t, codes.Unavailable, status.Code(err))
	require.ErrorContains(t, err, "is a directory")
	require.ErrorContains(t, err, "next step: move it away")
	p.problem(t, "history", "cannot read the history")
	_, err = p.piped.ListNotCompletedDeployments(testContext(t), &pipedservice.ListNotCompletedDeploymentsRequest{})
	require.Equal(t, codes.Unavailable, status.Code(err), "an empty list would be wrong")
	_, err = p.piped.ReportStat(testContext(t), &pipedservice.ReportStatRequest{PipedStats: []byte("x")})
	require.NoError(t, err, "it changes nothing")

	require.NoError(t, os.Rename(file, file+".moved"))
	p.problem(t, "history", "")
	_, err = p.api.RegisterEvent(testContext(t), event("e"))
	require.NoError(t, err)
	p.stop()

	next := start(t, keepIn(file))
	events, err := next.piped.ListEvents(testContext(t), &pipedservice.ListEventsRequest{})
	require.NoError(t, err)
	require.Len(t, events.GetEvents(), 1)
}

func TestADamagedHistoryDegradesTheEnvironment(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "history")
	p := start(t, keepIn(file))
	for _, name := range []string{"one", "two", "three"} {
		_, err := p.api.RegisterEvent(testContext(t), event(name))
		require.NoError(t, err)
	}
	p.stop()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	data[strings.Index(string(data), "two")] ^= 1
	require.NoError(t, os.WriteFile(file, data, 0o600))

	p = start(t, keepIn(file))
	p.problem(t, "history damage", "missing: event ")
	events, err := p.piped.ListEvents(testContext(t), &pipedservice.ListEventsRequest{})
	require.NoError(t, err)
	require.Len(t, events.GetEvents(), 2)
	kept, err := filepath.Glob(file + ".damaged-*")
	require.NoError(t, err)
	require.Len(t, kept, 1)
	p.problem(t, "history damage", "accept the loss with: rm "+kept[0])
	require.NoError(t, os.Remove(kept[0]))
	p.problem(t, "history damage", "")
}

func TestADeletedHistoryDegradesTheEnvironmentUntilTheLossIsAccepted(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "history")
	p := start(t, keepIn(file))
	_, err := p.api.RegisterEvent(testContext(t), event("one"))
	require.NoError(t, err)
	p.stop()
	require.NoError(t, os.Remove(file))

	p = start(t, keepIn(file))
	p.problem(t, "history damage", "was deleted or moved")
	_, err = p.api.RegisterEvent(testContext(t), event("two"))
	require.NoError(t, err, "work goes on")
	notes, err := filepath.Glob(file + ".missing-*")
	require.NoError(t, err)
	require.Len(t, notes, 1)
	require.NoError(t, os.Remove(notes[0]))
	p.problem(t, "history damage", "")
}

func TestEveryMethodThatIsRefusedWithoutAHistoryChangesSomething(t *testing.T) {
	t.Parallel()
	p := start(t, func(c *controlplane.Config) { c.KeepFile = filepath.Join(t.TempDir(), "no", "history") })
	p.problem(t, "history", "cannot")
	refused := map[string]bool{}
	eachMethod(t, p, func(name string, err error) {
		if status.Code(err) == codes.Unavailable && strings.Contains(err.Error(), "the history") {
			refused[name[strings.LastIndex(name, "/")+1:]] = true
		}
	})
	for _, name := range []string{"CreateDeployment", "ReportStageLogs", "ApproveStage", "RegisterEvent",
		"PutApplicationSharedObject"} {
		require.True(t, refused[name], name)
	}
	for _, name := range []string{"Shutdown", "ReportHealth", "ReportPlugins", "RestartPlugin", "GetCommand",
		"ListDeployments"} {
		require.False(t, refused[name], name)
	}
}
