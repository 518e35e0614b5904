// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestAStageIsCalledByTheIDThatItsAuthorGaveIt(t *testing.T) {
	t.Parallel()
	named := &deckv1.Stage{Id: "stage-2", Name: "WAIT_APPROVAL", ConfigId: "approve"}
	require.Equal(t, "approve", StageWord(named))
	for _, word := range []string{"approve", "WAIT_APPROVAL", "stage-2"} {
		require.True(t, IsStage(named, word), word)
	}
	require.False(t, IsStage(named, "app"))

	plain := &deckv1.Stage{Id: "stage-1", Name: "WAIT"}
	require.Equal(t, "WAIT", StageWord(plain))
	require.False(t, IsStage(plain, ""), "an empty word is no stage")
	require.Empty(t, StageWord(nil))
}

func TestAStageIsNamedToACommandWithoutAmbiguity(t *testing.T) {
	t.Parallel()
	stages := []*deckv1.Stage{
		{Id: "1", Name: "WAIT_APPROVAL", ConfigId: "security", CanApprove: true},
		{Id: "2", Name: "WAIT_APPROVAL", ConfigId: "legal", CanApprove: true},
		{Id: "3", Name: "WAIT_APPROVAL"},
		{Id: "4", Name: "WAIT"},
		{Id: "5", Name: "SCRIPT_RUN", ConfigId: "WAIT"},
		{Id: "6", Name: "SCRIPT_RUN"},
	}
	for i, want := range []string{"security", "legal", "3", "4", "5", "6"} {
		require.Equal(t, want, StageArgument(stages, stages[i]))
	}
	require.Equal(t, "SCRIPT_RUN", StageArgument(stages[5:], stages[5]))
	waiting := StagesThat(&deckv1.Deployment{Stages: stages}, (*deckv1.Stage).GetCanApprove)
	require.Equal(t, stages[:2], waiting)
}
