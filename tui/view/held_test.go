// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/theme"
)

func TestWhereADebuggerHoldsAStageIsInItsRowItsInspectorAndTheHeader(t *testing.T) {
	t.Parallel()
	th := theme.New(theme.Options{NoColor: true})
	plugin := &deckv1.Plugin{Name: "greeter", State: deckv1.Plugin_STATE_RUNNING, Held: true,
		HeldAt: "stage.go:57 (main.greet)"}
	by := HeldBy(plugin)
	require.Equal(t, "held by a debugger at stage.go:57", by)
	require.Equal(t, "held by a debugger", HeldBy(&deckv1.Plugin{Held: true}))
	require.Empty(t, HeldBy(&deckv1.Plugin{HeldAt: "stage.go:57"}))

	stage := &deckv1.Stage{Id: "1", Name: "GREETER", Status: deckv1.StageStatus_STAGE_STATUS_RUNNING,
		StartedAt: decktest.At(16)}
	memo := &GraphMemo{}
	v := Deployment{Theme: th, Now: decktest.Now(), Memo: memo,
		Deployment: &deckv1.Deployment{Stages: []*deckv1.Stage{stage}}}
	require.Empty(t, v.stages()[0].Note)
	v.Held = map[string]string{"1": by}
	require.Equal(t, by, v.stages()[0].Note, "the memo follows")
	require.Contains(t, ansi.Strip(v.stageLines(stage, 100)[0]), "GREETER  "+by)
	v.Held = nil
	require.Empty(t, v.stages()[0].Note)

	inspector := Inspector{Theme: th, Now: decktest.Now(), Deployment: v.Deployment, Stage: stage, Plugin: plugin}
	require.Regexp(t, "held +by a debugger at stage.go:57", ansi.Strip(strings.Join(inspector.Lines(100), "\n")))
	stage.Status = deckv1.StageStatus_STAGE_STATUS_SUCCESS
	require.NotContains(t, ansi.Strip(strings.Join(inspector.Lines(100), "\n")), "by a debugger at")

	header := Header{Theme: th, Name: "dev", Ready: 5, All: 5, Held: "greeter " + by}
	require.Contains(t, ansi.Strip(header.Draw(100)), "greeter held by a debugger at stage.go:57")
	require.False(t, header.Calm())
}
