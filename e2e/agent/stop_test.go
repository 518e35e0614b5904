// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

// PipeCD v1 cancels the call of a stage without a word.
func TestAPluginKnowsWhyItsStageStops(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options, says string
		stop          func(*testing.T, *environment, *deckv1.Deployment)
	}{
		"a user cancels": {
			says: "the stage was cancelled: Cancelled by carol\n",
			stop: func(t *testing.T, e *environment, d *deckv1.Deployment) {
				_, err := e.user(t).CancelDeployment(
					t.Context(), &deckv1.CancelDeploymentRequest{DeploymentId: d.GetId(), Commander: "carol"},
				)
				require.NoError(t, err)
			},
		},
		"time is up": {options: ", timeout: 5s", says: "the stage timed out after 5s\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newBundled(t, "      - {name: WAIT, with: {duration: 1h}"+c.options+"}\n")
			e.start(t)
			d := e.deck.awaitStage(t, 0, deckv1.StageStatus_STAGE_STATUS_RUNNING)
			require.Contains(t, e.logUntil(t, d, "Waiting for 1h"), "Waiting for 1h")
			if c.stop != nil {
				c.stop(t, e, d)
			}
			require.Contains(t, e.logUntil(t, d, c.says), c.says)
		})
	}
}

// logUntil reads the log of the first stage until it holds text or is complete.
func (e *environment) logUntil(t *testing.T, d *deckv1.Deployment, text string) string {
	t.Helper()
	stream, err := e.user(t).WatchStageLog(
		t.Context(), &deckv1.WatchStageLogRequest{DeploymentId: d.GetId(), StageId: d.GetStages()[0].GetId()},
	)
	require.NoError(t, err)
	var log strings.Builder
	for {
		answer, err := stream.Recv()
		require.NoError(t, err)
		for _, block := range answer.GetBlocks() {
			log.WriteString(strings.TrimSuffix(block.GetText(), "\n") + "\n")
		}
		if answer.GetCompleted() || strings.Contains(log.String(), text) {
			return log.String()
		}
	}
}
