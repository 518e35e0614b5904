// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
)

func TestAnswersOfDeployTargetsBecomeOne(t *testing.T) {
	t.Parallel()
	const synced, unknown, outOfSync = model.ApplicationSyncStatus_SYNCED, model.ApplicationSyncStatus_UNKNOWN,
		model.ApplicationSyncStatus_OUT_OF_SYNC
	state := func(status model.ApplicationSyncStatus, reason string) *model.ApplicationSyncState {
		return &model.ApplicationSyncState{Status: status, ShortReason: reason, Reason: "long " + reason}
	}
	for name, c := range map[string]struct {
		states []model.ApplicationSyncStatus
		want   model.ApplicationSyncStatus
		short  string
	}{
		"in sync":                       {[]model.ApplicationSyncStatus{synced, synced}, synced, ""},
		"not known goes before in sync": {[]model.ApplicationSyncStatus{synced, unknown}, unknown, "b: r1"},
		"drift goes before not known": {[]model.ApplicationSyncStatus{outOfSync, unknown, synced}, outOfSync,
			"a: r0; b: r1"},
		"one target needs no name": {[]model.ApplicationSyncStatus{outOfSync}, outOfSync, "r0"},
		"few are reported in short": {
			[]model.ApplicationSyncStatus{outOfSync, outOfSync, outOfSync, outOfSync, outOfSync}, outOfSync,
			"a: r0; b: r1; c: r2; and 2 more deploy targets",
		},
	} {
		var answers []answer
		for i, status := range c.states {
			s := &model.ApplicationSyncState{}
			if status != synced {
				s = state(status, fmt.Sprintf("r%d", i))
			}
			s.Status = status
			answers = append(answers, answer{target: string(rune('a' + i)), sync: s})
		}
		all := merge(answers)
		require.Equal(t, c.want, all.Sync.GetStatus(), name)
		require.Equal(t, c.short, all.Sync.GetShortReason(), name)
	}
}

func TestTheSameObjectAtTwoDeployTargetsHasTwoIDs(t *testing.T) {
	t.Parallel()
	resources := func(ids ...string) (list []*model.ResourceState) {
		for i, id := range ids {
			r := &model.ResourceState{Id: id}
			if i > 0 {
				r.ParentIds = []string{ids[i-1]}
			}
			list = append(list, r)
		}
		return list
	}
	answers := []answer{{target: "a", resources: resources("web", "pod")},
		{target: "b", resources: resources("web", "pod")}, {target: "c", resources: resources("other")}}
	setApart(answers)
	all := merge(answers)
	var ids []string
	for _, r := range all.Resources {
		ids = append(ids, fmt.Sprint(r.GetId(), r.GetParentIds()))
	}
	require.Equal(t, []string{"web[]", "pod[web]", "b/web[]", "b/pod[b/web]", "other[]"}, ids)
}
