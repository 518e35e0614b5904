// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestHintsNameTheEnvironmentAndItsPlaceUnlessTheyAreTheUsualOnes(t *testing.T) {
	t.Parallel()
	usual, err := workspace.Root()
	require.NoError(t, err)
	elsewhere := t.TempDir()
	for _, c := range []struct{ root, name, flags string }{
		{usual, "default", ""},
		{usual, "demo", " --name demo"},
		{elsewhere, "default", " --state-dir " + elsewhere},
		{elsewhere, "demo", " --name demo --state-dir " + elsewhere},
	} {
		w, err := workspace.At(c.root, c.name)
		require.NoError(t, err)
		require.Equal(t, c.flags, Flags(w))
	}
}
