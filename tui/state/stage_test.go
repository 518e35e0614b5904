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
