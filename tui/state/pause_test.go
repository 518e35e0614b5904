// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestTheTimeOfADeploymentStandsStillAtBreakpoints(t *testing.T) {
	t.Parallel()
	at := func(seconds int64) *timestamppb.Timestamp { return &timestamppb.Timestamp{Seconds: 1_000 + seconds} }
	d := &deckv1.Deployment{
		ApplicationName: "shop", CreatedAt: at(0), Paused: durationpb.New(10 * time.Second),
		Stages: []*deckv1.Stage{
			{Id: "a", Name: "WAIT", StartedAt: at(1), CompletedAt: at(15)},
			{Id: "b", Name: "GREET", Requires: []string{"a"}},
			{Id: "c", Name: "GREET", Requires: []string{"a"}, StartedAt: at(15), Pause: &deckv1.StagePause{
				When: deckv1.Breakpoint_WHEN_AFTER, Since: at(20)}},
		},
	}
	for now, want := range map[int64]time.Duration{
		24: 10 * time.Second, 19: 9 * time.Second, 40: 10 * time.Second, 400: 10 * time.Second,
	} {
		require.Equal(t, want, DeploymentTook(d, at(now).AsTime()), "%d seconds after its start", now)
	}
	require.Equal(t, []string{"paused after GREET; go on with: pipedeck continue shop GREET"}, DeploymentPauses(d))
	d.Stages[2].Pause = nil
	require.Empty(t, DeploymentPauses(d))
	require.Equal(t, 30*time.Second, DeploymentTook(d, at(40).AsTime()))
}
