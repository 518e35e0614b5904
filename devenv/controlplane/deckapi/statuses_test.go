// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package deckapi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// Every status of PipeCD has a status of the deck API with its name, and every status of the deck API is used. One is
// not PipeCD's: ORPHANED is a reason there.
func TestEveryStatusHasItsCounterpart(t *testing.T) {
	t.Parallel()
	requireCounterparts(t, deploymentStatuses, "DEPLOYMENT_", "DEPLOYMENT_STATUS_")
	requireCounterparts(t, stageStatuses, "STAGE_", "STAGE_STATUS_")
	requireCounterparts(t, syncStatuses, "", "SYNC_STATUS_", deckv1.SyncStatus_SYNC_STATUS_ORPHANED)
	requireCounterparts(t, healthStatuses, "", "HEALTH_STATUS_")
}

func requireCounterparts[From, To interface {
	comparable
	protoreflect.Enum
}](t *testing.T, table map[From]To, fromPrefix, toPrefix string, ours ...To) {
	t.Helper()
	var from From
	var to To
	all, shown := from.Descriptor().Values(), to.Descriptor().Values()
	require.Len(t, table, all.Len(), "%s", from.Descriptor().FullName())
	require.Equal(t, all.Len()+1+len(ours), shown.Len(), "%s has one more: unspecified", to.Descriptor().FullName())
	for status, counterpart := range table {
		name := strings.TrimPrefix(string(all.ByNumber(status.Number()).Name()), fromPrefix)
		want := strings.TrimSuffix(toPrefix+name, "_YET")
		require.Equal(t, want, string(shown.ByNumber(counterpart.Number()).Name()))
	}
}

// Plugins and pipeds have an unspecified state on both sides, which needs no row.
func TestEveryStateOfAPluginAndOfAPipedHasItsCounterpart(t *testing.T) {
	t.Parallel()
	reported, shown := agentv1.Plugin_State_name, deckv1.Plugin_State_name
	require.Len(t, pluginStates, len(reported)-1)
	require.Len(t, pluginStates, len(shown)-1)
	for state, counterpart := range pluginStates {
		require.Equal(t, state.String(), counterpart.String())
	}
	require.Len(t, pipedStates, len(deckv1.Piped_State_name)-1)
	used := map[deckv1.Piped_State]bool{deckv1.Piped_STATE_UNSPECIFIED: true}
	for state, counterpart := range pipedStates {
		require.False(t, used[counterpart], "%v: another state is shown as %v", state, counterpart)
		used[counterpart] = true
	}
}
