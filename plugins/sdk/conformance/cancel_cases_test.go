// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func TestALogThatEndsWithTheCancelIsNotThatOfAStageThatWentOn(t *testing.T) {
	t.Parallel()
	usual := []*model.LogBlock{{Log: "All analyses were successful", Severity: model.LogSeverity_SUCCESS}}
	for text, stopped := range map[string]bool{
		"All analyses were successful":            false,
		"rpc error: code = Canceled desc = ended": true,
		"The stage was cancelled":                 true,
	} {
		last := []*model.LogBlock{{Log: text, Severity: model.LogSeverity_SUCCESS}}
		require.Equal(t, stopped, saysStopped(usual, last), text)
	}
	require.True(t, saysStopped(usual, []*model.LogBlock{{Log: "no data", Severity: model.LogSeverity_ERROR}}),
		"severity")
	require.False(t, saysStopped([]*model.LogBlock{{Log: "nothing was cancelled"}},
		[]*model.LogBlock{{Log: "nothing was cancelled"}}), "as usual")
}
