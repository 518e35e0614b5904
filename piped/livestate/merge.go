// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"slices"
	"strings"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

// syncOrder is which of several sync states wins (PipeCD v1).
var syncOrder = []model.ApplicationSyncStatus{
	model.ApplicationSyncStatus_DEPLOYING,
	model.ApplicationSyncStatus_INVALID_CONFIG,
	model.ApplicationSyncStatus_OUT_OF_SYNC,
	model.ApplicationSyncStatus_UNKNOWN,
	model.ApplicationSyncStatus_SYNCED,
}

// mergeSync makes one sync state of those of several plugins. The reasons of the ones that won are joined; no one's
// state is UNKNOWN.
func mergeSync(answers []*livestate.GetLivestateResponse, now time.Time) *model.ApplicationSyncState {
	merged := &model.ApplicationSyncState{Timestamp: now.Unix()}
	var short, long []string
	best := len(syncOrder)
	for _, answer := range answers {
		state := answer.GetSyncState()
		if state == nil {
			continue
		}
		rank := slices.Index(syncOrder, state.GetStatus())
		switch {
		case rank < 0 || rank > best:
			continue
		case rank < best:
			best, short, long = rank, nil, nil
			merged.Status = state.GetStatus()
		}
		short, long = appendText(short, state.GetShortReason()), appendText(long, state.GetReason())
	}
	merged.ShortReason, merged.Reason = strings.Join(short, "\n"), strings.Join(long, "\n")
	return merged
}

func appendText(list []string, text string) []string {
	if text == "" {
		return list
	}
	return append(list, text)
}

// mergeLive concatenates the resources. PipeCD v1: unhealthy if any is, else unknown if any is, else healthy.
func mergeLive(
	answers []*livestate.GetLivestateResponse,
) (*model.ApplicationLiveState, model.ApplicationLiveStateSnapshot_Status) {
	state := &model.ApplicationLiveState{}
	unhealthy, unknown := false, false
	for _, answer := range answers {
		live := answer.GetApplicationLiveState()
		state.Resources = append(state.Resources, live.GetResources()...)
		for _, resource := range live.GetResources() {
			unhealthy = unhealthy || resource.GetHealthStatus() == model.ResourceState_UNHEALTHY
			unknown = unknown || resource.GetHealthStatus() == model.ResourceState_UNKNOWN
		}
	}
	switch {
	case unhealthy:
		state.HealthStatus = model.ApplicationLiveState_OTHER
		return state, model.ApplicationLiveStateSnapshot_UNHEALTHY
	case unknown:
		return state, model.ApplicationLiveStateSnapshot_UNKNOWN
	}
	state.HealthStatus = model.ApplicationLiveState_HEALTHY
	return state, model.ApplicationLiveStateSnapshot_HEALTHY
}
