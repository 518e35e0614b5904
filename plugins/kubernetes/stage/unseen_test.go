// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package stage

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/kubernetes/inventory"
)

func TestALookThatFindsNothingWhileAKindDoesNotAnswerIsNotCertain(t *testing.T) {
	t.Parallel()
	forbidden := inventory.Skipped{Resource: "secrets", Kind: "Secret", Unseen: true}
	gone := inventory.Skipped{Group: "example.com", Resource: "olds", Kind: "Old"}
	dead := inventory.Skipped{Group: "example.com", Resource: "wads", Kind: "Wad", Reason: "no webhook", Unseen: true}
	require.NoError(t, unanswered([]inventory.Skipped{forbidden, gone}))
	require.EqualError(t, unanswered([]inventory.Skipped{forbidden, dead, gone}),
		"these kinds could not be looked at: wads.example.com (no webhook)")
}
