// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Runs of two applications against one cluster must not have each other's resources; runs of one application must.
func TestEachApplicationIsTestedUnderItsOwnID(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	require.NoError(t, err)
	require.Regexp(t, `^application-[0-9a-f]{12}$`, applicationID("shop"))
	require.Equal(t, applicationID("shop"), applicationID(filepath.Join(here, "shop")+"/"))
	require.NotEqual(t, applicationID("shop"), applicationID("cart"))
	require.Empty(t, applicationID(""), "the suite's own application")
}

func TestTheExampleOfAPluginIsItsApplication(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Empty(t, exampleOf(dir))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "example"), 0o700))
	require.Empty(t, exampleOf(dir))
	config := filepath.Join(dir, "example", "app.pipecd.yaml")
	require.NoError(t, os.WriteFile(config, []byte("kind: Application\n"), 0o600))
	require.Equal(t, filepath.Join(dir, "example"), exampleOf(dir))
}
