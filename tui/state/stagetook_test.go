// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/state"
)

func TestTheTimeOfAStageDoesNotCountItsPauses(t *testing.T) {
	t.Parallel()
	at := func(seconds int64) *timestamppb.Timestamp { return &timestamppb.Timestamp{Seconds: 1000 + seconds} }
	now := at(60).AsTime()
	for name, c := range map[string]struct {
		stage *deckv1.Stage
		want  time.Duration
	}{
		"not started": {&deckv1.Stage{Pause: &deckv1.StagePause{Since: at(10)}}, 0},
		"running":     {&deckv1.Stage{StartedAt: at(0)}, time.Minute},
		"paused now":  {&deckv1.Stage{StartedAt: at(0), Pause: &deckv1.StagePause{Since: at(20)}}, 20 * time.Second},
		"was paused": {&deckv1.Stage{StartedAt: at(0), CompletedAt: at(50), Paused: durationpb.New(45 * time.Second)},
			5 * time.Second},
		"never paused": {&deckv1.Stage{StartedAt: at(0), CompletedAt: at(50)}, 50 * time.Second},
	} {
		require.Equal(t, c.want, state.StageTook(c.stage, now), name)
	}
}
