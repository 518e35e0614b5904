// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
)

func TestRulesAreAddedAndRemovedWhilePipedRuns(t *testing.T) {
	t.Parallel()
	s := New()
	changed := s.Changed()
	one, err := s.Add("WAIT: 2*hang; kill", "shop")
	require.NoError(t, err)
	<-changed
	require.Equal(t, []string{"WAIT: 2*hang; kill", "WAIT", "shop"},
		[]string{one.GetRule(), one.GetStage(), one.GetApplicationId()})
	two, err := s.Add("SYNC/cluster/get: unavailable", "")
	require.NoError(t, err)
	require.Equal(t, "SYNC", two.GetStage())
	require.NotEqual(t, one.GetId(), two.GetId())

	other := stage("WAIT")
	other.Application = "another"
	require.Nil(t, s.Begin(other))
	other.Application, changed = "shop", s.Changed()
	require.Equal(t, "fault injected: hang; kill", s.Begin(other).String())
	<-changed
	require.Equal(t, []string{"WAIT: hang", "SYNC/cluster/get: unavailable"}, rules(s))
	require.Equal(t, "WAIT: hang", s.Remove([]string{one.GetId(), "unknown"})[0].GetRule())
	require.Len(t, s.Remove(nil), 1)
	require.Empty(t, s.Remove(nil))
}

func TestRulesThatCannotBeTakenAreRefused(t *testing.T) {
	t.Parallel()
	s := New()
	for rule, want := range map[string]string{
		"WAIT: kil": "column 7", "WAIT: hang\nWAIT: hang": "one line",
		"control-plane: delay 1s": "for all applications",
	} {
		_, err := s.Add(rule, "shop")
		require.ErrorContains(t, err, want)
		require.Empty(t, s.List())
	}
	for range maxWaiting {
		_, err := s.Add("WAIT: hang", "")
		require.NoError(t, err)
	}
	_, err := s.Add("WAIT: hang", "")
	require.ErrorContains(t, err, "100 faults wait already")
	s.Begin(stage("WAIT"))
	_, err = s.Add("WAIT: hang", "")
	require.NoError(t, err, "those that have happened do not count")
}

func TestWhatIsLeftOfReportsIsListed(t *testing.T) {
	t.Parallel()
	s := parse(t, "control-plane: unavailable 3; delay 1ms")
	for range 2 {
		require.Error(t, s.Reports()(t.Context(), "/PipedService/ReportStageLogs", nil, nil, nil,
			func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return nil }))
	}
	require.Equal(t, []string{"control-plane: unavailable 1; delay 1ms"}, rules(s))
}
