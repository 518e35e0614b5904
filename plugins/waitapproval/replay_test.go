// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
)

// recordedStage is the id of the stage in the recording of two approvals.
const recordedStage = "00000000-0000-4000-8000-000000000012"

func TestAnswersAreThoseOfPipeCDsPlugin(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			h := sdktest.Start(t, sdk.ForStages(plugin{}), sdktest.Options{Name: "waitapproval"})
			h.Piped.Approve(recordedStage, "alice")
			h.Piped.Approve(recordedStage, "bob")
			h.Replay(t, file, t.TempDir())
		})
	}
}
