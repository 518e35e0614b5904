// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

// recordedStage is the id of the stage in the recording of two approvals.
const recordedStage = "00000000-0000-4000-8000-000000000012"

func TestAnswersAreThoseOfPipeCDsPlugin(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"a0-start-up", "a2-approval-by-two",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := wiretest.Start(t, sdk.ForStages(plugin{}), wiretest.Options{Name: "waitapproval"})
			h.Piped.Approve(recordedStage, "alice")
			h.Piped.Approve(recordedStage, "bob")
			h.Replay(t, "../../api/testdata/recordings/"+name+".jsonl", t.TempDir())
		})
	}
}
