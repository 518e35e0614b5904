// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package livestate

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

func TestAnswersOfDeployTargetsBecomeOne(t *testing.T) {
	t.Parallel()
	const synced, unknown, outOfSync = sdk.Synced, sdk.SyncUnknown,
		sdk.OutOfSync
	state := func(status sdk.SyncStatus, reason string) sdk.SyncState {
		return sdk.SyncState{Status: status, ShortReason: reason, Reason: "long " + reason}
	}
	for name, c := range map[string]struct {
		states []sdk.SyncStatus
		want   sdk.SyncStatus
		short  string
	}{
		"in sync":                       {[]sdk.SyncStatus{synced, synced}, synced, ""},
		"not known goes before in sync": {[]sdk.SyncStatus{synced, unknown}, unknown, "b: r1"},
		"drift goes before not known": {[]sdk.SyncStatus{outOfSync, unknown, synced}, outOfSync,
			"a: r0; b: r1"},
		"one target needs no name": {[]sdk.SyncStatus{outOfSync}, outOfSync, "r0"},
		"few are reported in short": {
			[]sdk.SyncStatus{outOfSync, outOfSync, outOfSync, outOfSync, outOfSync}, outOfSync,
			"a: r0; b: r1; c: r2; and 2 more deploy targets",
		},
	} {
		var answers []answer
		for i, status := range c.states {
			s := sdk.SyncState{}
			if status != synced {
				s = state(status, fmt.Sprintf("r%d", i))
			}
			s.Status = status
			answers = append(answers, answer{target: string(rune('a' + i)), sync: s})
		}
		all := merge(answers)
		require.Equal(t, c.want, all.Sync.Status, name)
		require.Equal(t, c.short, all.Sync.ShortReason, name)
	}
}

func TestTheSameObjectAtTwoDeployTargetsHasTwoIDs(t *testing.T) {
	t.Parallel()
	resources := func(ids ...string) (list []*sdk.ResourceState) {
		for i, id := range ids {
			r := &sdk.ResourceState{ID: id}
			if i > 0 {
				r.ParentIDs = []string{ids[i-1]}
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
		ids = append(ids, fmt.Sprint(r.ID, r.ParentIDs))
	}
	require.Equal(t, []string{"web[]", "pod[web]", "b/web[]", "b/pod[b/web]", "other[]"}, ids)
}
