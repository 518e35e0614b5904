// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/theme"
)

func TestARunningPluginWithANoticeIsMarked(t *testing.T) {
	t.Parallel()
	th := theme.Theme{Glyphs: theme.Glyphs{Done: "ok", Wait: "see"}}
	quiet := &deckv1.Plugin{Name: "mine", State: deckv1.Plugin_STATE_RUNNING}
	detailed := &deckv1.Plugin{Name: "mine", State: deckv1.Plugin_STATE_RUNNING,
		Detail: "its changed program does not start"}
	require.Contains(t, Plugins{Theme: th, List: []*deckv1.Plugin{quiet}}.Draw(40, 3), "ok mine")
	require.Contains(t, Plugins{Theme: th, List: []*deckv1.Plugin{detailed}}.Draw(40, 3), "see mine")
	require.Contains(t, PluginTable{Theme: th, List: []*deckv1.Plugin{detailed}}.Draw(90, 12), "see mine")
}
