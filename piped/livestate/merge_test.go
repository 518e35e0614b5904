// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

func TestTheWorstSyncStateWins(t *testing.T) {
	t.Parallel()
	const deploying, invalid, outOfSync, unknown, synced = model.ApplicationSyncStatus_DEPLOYING,
		model.ApplicationSyncStatus_INVALID_CONFIG,
		model.ApplicationSyncStatus_OUT_OF_SYNC, model.ApplicationSyncStatus_UNKNOWN, model.ApplicationSyncStatus_SYNCED
	type state struct {
		status model.ApplicationSyncStatus
		reason string
	}
	for name, c := range map[string]struct {
		states []state
		want   state
	}{
		"no one knows":               {nil, state{unknown, ""}},
		"one":                        {[]state{{synced, ""}}, state{synced, ""}},
		"out of sync before synced":  {[]state{{synced, "a"}, {outOfSync, "b"}}, state{outOfSync, "b"}},
		"out of sync before unknown": {[]state{{outOfSync, "a"}, {unknown, "b"}}, state{outOfSync, "a"}},
		"unknown before synced":      {[]state{{synced, ""}, {unknown, "b"}}, state{unknown, "b"}},
		"invalid before out of sync": {[]state{{outOfSync, "a"}, {invalid, "b"}}, state{invalid, "b"}},
		"deploying before all": {
			[]state{{invalid, "a"}, {deploying, "b"}, {outOfSync, "c"}}, state{deploying, "b"},
		},
		"reasons of the same state joined": {
			[]state{{outOfSync, "a"}, {synced, "b"}, {outOfSync, "c"}, {outOfSync, ""}}, state{outOfSync, "a\nc"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := []*livestate.GetLivestateResponse{{}} // a plugin that does not know
			for _, s := range c.states {
				answers = append(
					answers,
					&livestate.GetLivestateResponse{
						SyncState: &model.ApplicationSyncState{
							Status: s.status, ShortReason: s.reason, Reason: s.reason,
						},
					},
				)
			}
			merged := mergeSync(answers, time.Unix(7, 0))
			require.Equal(t, c.want, state{merged.GetStatus(), merged.GetReason()})
			require.Equal(t, c.want.reason, merged.GetShortReason())
			require.EqualValues(t, 7, merged.GetTimestamp())
		})
	}
}

func TestHealthOfSeveralPlugins(t *testing.T) {
	t.Parallel()
	const healthy, unhealthy, unknown = model.ResourceState_HEALTHY, model.ResourceState_UNHEALTHY,
		model.ResourceState_UNKNOWN
	for name, c := range map[string]struct {
		resources [][]model.ResourceState_HealthStatus
		snapshot  model.ApplicationLiveStateSnapshot_Status
		state     model.ApplicationLiveState_Status
	}{
		"nothing": {nil, model.ApplicationLiveStateSnapshot_HEALTHY, model.ApplicationLiveState_HEALTHY},
		"all healthy": {
			[][]model.ResourceState_HealthStatus{{healthy}, {healthy, healthy}},
			model.ApplicationLiveStateSnapshot_HEALTHY, model.ApplicationLiveState_HEALTHY,
		},
		"one unknown": {
			[][]model.ResourceState_HealthStatus{{healthy}, {unknown}}, model.ApplicationLiveStateSnapshot_UNKNOWN,
			model.ApplicationLiveState_UNKNOWN,
		},
		"unhealthy counts": {
			[][]model.ResourceState_HealthStatus{{unknown, healthy}, {unhealthy}},
			model.ApplicationLiveStateSnapshot_UNHEALTHY, model.ApplicationLiveState_OTHER,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var answers []*livestate.GetLivestateResponse
			total := 0
			for _, list := range c.resources {
				live := &model.ApplicationLiveState{}
				for _, h := range list {
					live.Resources = append(live.Resources, &model.ResourceState{HealthStatus: h})
					total++
				}
				answers = append(answers, &livestate.GetLivestateResponse{ApplicationLiveState: live})
			}
			state, health := mergeLive(answers)
			require.Equal(t, c.snapshot, health)
			require.Equal(t, c.state, state.GetHealthStatus())
			require.Len(t, state.GetResources(), total)
		})
	}
}
