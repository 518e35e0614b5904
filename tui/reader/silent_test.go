// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestASilentStageAndAPlanThatWaitsAreReportedOnce(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_795_230_000, 0)
	d := NewDiffer()
	dep := &deckv1.Deployment{
		Id: "d", ApplicationName: "hello", Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_PENDING,
		Commit: &deckv1.Commit{Hash: "abcdef0123"},
	}
	lines := func(at time.Time) (plain, said []string) {
		t.Helper()
		kind := &deckv1.Event_Deployment{Deployment: proto.CloneOf(dep)}
		event := &deckv1.Event{Time: timestamppb.New(at), Kind: kind}
		for _, c := range d.Apply(event) {
			if c.Kind == StageSilent || c.Kind == PlanningWaits {
				plain, said = append(plain, plainLines(c, Options{})...), append(said, sentences(c, Options{})...)
				require.NotNil(t, jsonLine(c))
			}
		}
		return plain, said
	}
	dep.PlanningWaitsFor, dep.PlanningSince = "greeter", timestamppb.New(now)
	plain, said := lines(now.Add(5 * time.Second))
	require.Equal(t, []string{"deployment   hello abcdef0  PENDING  planning waits for plugin greeter, 5 s"}, plain)
	require.Equal(t, []string{"The planning of the deployment of hello has waited for plugin greeter for 5 s."}, said)
	plain, _ = lines(now.Add(6 * time.Second))
	require.Empty(t, plain, "it was said")

	dep.PlanningWaitsFor, dep.PlanningSince = "", nil
	dep.Stages = []*deckv1.Stage{{
		Id: "s", Name: "GREET", Status: deckv1.StageStatus_STAGE_STATUS_RUNNING, SilentSince: timestamppb.New(now),
	}}
	plain, said = lines(now.Add(45 * time.Second))
	require.Equal(t, []string{"stage        hello GREET  RUNNING  no output for 45 s"}, plain)
	require.Equal(t, []string{"Stage GREET of hello has had no output for 45 s."}, said)
	plain, _ = lines(now.Add(50 * time.Second))
	require.Empty(t, plain)
}
