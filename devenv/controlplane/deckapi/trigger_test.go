// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/devenv/controlplane/store"
)

func TestADeploymentSaysWhyItWasCreated(t *testing.T) {
	t.Parallel()
	type notes = map[string]string
	by := &model.DeploymentTrigger{Commander: "carol"}
	tests := map[string]struct {
		notes   notes
		trigger *model.DeploymentTrigger
		block   uint32
		event   bool
		want    deckv1.DeploymentTrigger
	}{
		"a commit":                {nil, nil, 0, false, 1},
		"a commit of an event":    {nil, nil, 0, true, 2},
		"drift":                   {notes{"pipedeck/trigger": "ON_OUT_OF_SYNC"}, nil, 0, false, 3},
		"drift after an event":    {notes{"pipedeck/trigger": "ON_OUT_OF_SYNC"}, nil, 0, true, 3},
		"a sync":                  {nil, by, 0, false, 4},
		"a block of a chain":      {nil, by, 1, false, 5},
		"a retry of piped":        {notes{"pipedeck/retry-of": "d"}, nil, 0, false, 6},
		"a retry of a user":       {notes{"pipedeck/retry-of": "d"}, by, 0, false, 6},
		"a rollback":              {notes{"pipedeck/rollback-to": "d"}, by, 0, false, 7},
		"a removal by a user":     {notes{"pipedeck/remove": "cascade"}, by, 0, false, 8},
		"a removal by a commit":   {notes{"pipedeck/remove": "cascade"}, nil, 0, false, 8},
		"a commit of other piped": {nil, nil, 0, false, 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &store.Deployment{Model: &model.Deployment{
				Trigger: tt.trigger, DeploymentChainBlockIndex: tt.block,
				MetadataV2: &model.DeploymentMetadata{
					Shared: &model.DeploymentMetadata_KeyValues{KeyValues: tt.notes},
				},
			}}
			if tt.block > 0 {
				d.Model.DeploymentChainId = "chain"
			}
			if tt.event {
				d.EventCommit = &model.Commit{Hash: "e"}
			}
			require.Equal(t, tt.want, deployment(d).GetTrigger())
		})
	}
}
