// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package spelling

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheNearestNameIsFoundUnlessNoneIsNear(t *testing.T) {
	t.Parallel()
	require.Equal(t, "replicas", Nearest("Replcias", []string{"selector", "replicas"}))
	require.Empty(t, Nearest("x", []string{"selector", "replicas"}))
	for name, want := range map[string]string{"HIGHER": "HIGH", "HIG": "HIGH", "EITHR": "EITHER", "LOWER": "LOW"} {
		require.Equal(t, want, Nearest(name, []string{"EITHER", "LOW", "HIGH"}))
	}
	require.Equal(t, "ab", Nearest("a", []string{"b", "ab", "ac"}), "the first that begins with it")
	require.Empty(t, Nearest("", []string{"abc"}))
	require.True(t, Slip("WAIT_APROVAL", []string{"WAIT_APPROVAL"}))
	require.False(t, Slip("WAIT", []string{"WAIT_APPROVAL"}))
	require.Equal(t, 1, Distance("ab", "ba", 5), "an exchange of neighbours")
	require.Equal(t, 2, Distance("abcdef", "a", 2), "no more than the limit")
}
