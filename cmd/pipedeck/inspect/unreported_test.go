// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/document"
)

// PipeCD's own piped does not report its plugins, so that one that was killed is not noticed.
func TestThePluginsOfAPipedThatDoesNotReportThemAreUnknown(t *testing.T) {
	t.Parallel()
	plugin := &deckv1.Plugin{Name: "greeter", Detail: "this piped does not report plugin processes"}
	require.Equal(t, "UNKNOWN", document.PluginState(plugin))
	require.Equal(t, []string{"UNKNOWN: this piped does not report plugin processes"}, pluginNotes(plugin))
	plugin.State = deckv1.Plugin_STATE_RUNNING
	require.Equal(t, "RUNNING", document.PluginState(plugin))
	require.Empty(t, pluginNotes(plugin))
}
