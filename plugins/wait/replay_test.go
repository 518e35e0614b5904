// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

func TestAnswersAreThoseOfPipeCDsPlugin(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"a0-start-up", "a1-wait-script", "a1b-sync-command", "a4-cancel", "a5-stage-timeout",
		"a7b-livestate-stage-only", "b4-k8s-canary",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wait := &plugin{clock: clock{now: time.Now, after: time.After}}
			wiretest.Start(t, sdk.ForStages(wait), wiretest.Options{Name: "wait"}).Replay(t,
				"../../api/testdata/recordings/"+name+".jsonl", t.TempDir())
		})
	}
}
