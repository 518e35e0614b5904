// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

func TestAnswersAreThoseOfPipeCDsPlugin(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"a0-start-up", "a1-wait-script", "a1b-sync-command", "a2-approval-by-two", "a3-failure-rollback", "a4-cancel",
		"a5-stage-timeout", "a7b-livestate-stage-only", "a8-event-watcher",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			// a script shows it
			require.NoError(t, os.WriteFile(filepath.Join(dir, "values.yaml"), []byte("image: {tag: v2}\n"), 0o600))
			run := &plugin{stopGrace: time.Second}
			wiretest.Start(t, sdk.ForStages(run), wiretest.Options{Name: "scriptrun"}).Replay(t,
				"../../api/testdata/recordings/"+name+".jsonl", dir)
		})
	}
}
