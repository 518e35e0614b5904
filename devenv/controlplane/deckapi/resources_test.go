// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/livestate"
)

func TestAResourceWhoseTimeOfCreationIsNotKnownHasNone(t *testing.T) {
	t.Parallel()
	require.EqualValues(t, 5, resource(&model.ResourceState{CreatedAt: 5, UpdatedAt: 9}).GetCreatedAt().GetSeconds())
	require.Nil(t, resource(&model.ResourceState{CreatedAt: 9, UpdatedAt: 9}).GetCreatedAt())
	require.Nil(t, resource(&model.ResourceState{}).GetCreatedAt())
}

func TestTheSummaryOfADriftAgreesWithItsFields(t *testing.T) {
	t.Parallel()
	const (
		live = livestate.FieldDrift_CHANGE_LIVE
		git  = livestate.FieldDrift_CHANGE_GIT
		both = livestate.FieldDrift_CHANGE_BOTH
	)
	type changes = []livestate.FieldDrift_Change
	for name, c := range map[string]struct {
		changes changes
		more    uint32
		want    string
	}{
		"nothing differs":          {nil, 0, ""},
		"Git has changed":          {changes{git, git}, 0, "2 fields changed in Git since the last deployment"},
		"a person has changed it":  {changes{live}, 0, "1 field changed live since the last deployment"},
		"one of each":              {changes{live, git}, 0, "2 fields not as in Git"},
		"all three differ":         {changes{both}, 0, "1 field not as in Git"},
		"not all fields are known": {changes{git}, 2, "3 fields not as in Git"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			drift := &livestate.ResourceDrift{MoreFields: c.more}
			for _, change := range c.changes {
				drift.Fields = append(drift.Fields, &livestate.FieldDrift{Path: "a", Change: change})
			}
			var r deckv1.Resource
			addDrift(&r, drift)
			require.Equal(t, c.want, r.GetDrift())
		})
	}
}
