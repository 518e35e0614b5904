// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
)

// A commit that runs already is deployed once more, by a user. When that is cancelled before the first stage, the
// application is as it was before.
func TestACancelBeforeTheFirstStageLeavesTheSyncStateOfTheCommitThatRuns(t *testing.T) {
	t.Parallel()
	const synced, outOfSync = model.ApplicationSyncStatus_SYNCED, model.ApplicationSyncStatus_OUT_OF_SYNC
	state := func(status model.ApplicationSyncStatus, head, short string) *model.ApplicationSyncState {
		return &model.ApplicationSyncState{Status: status, HeadDeploymentId: head, ShortReason: short, Timestamp: 1}
	}
	fine := state(synced, "running", "")
	deploying := state(model.ApplicationSyncStatus_DEPLOYING, "d", "")
	cancelled := state(outOfSync, "d", "The last deployment was cancelled")
	drift := state(outOfSync, "running", "Deployment web: spec.replicas: 2 in Git, 4 live")
	failed := state(outOfSync, "failed", "The last deployment failed")
	behind := state(outOfSync, "running", "Rolled back to c0ffee: out of sync until the next commit")
	for name, c := range map[string]struct {
		at, running  string
		before, want *model.ApplicationSyncState
	}{
		"synced":                       {"before A", "c0ffee", fine, fine},
		"a drift":                      {"before A", "c0ffee", drift, drift},
		"a failure of the same commit": {"before A", "c0ffee", failed, failed},
		"behind a newer commit":        {"before A", "c0ffee", behind, behind},
		"not known":                    {"before A", "c0ffee", nil, cancelled},
		"the state of a killed piped":  {"before A", "c0ffee", deploying, cancelled},
		"a stage has begun":            {"after A", "c0ffee", fine, cancelled},
		"another commit was running":   {"before A", "beef", fine, cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cp := startControlPlane(t)
			cp.sync["app"] = c.before
			a := startAgentAt(t, cp, pipeline("with: {}", "with: {}"), breakAt(t, c.at))
			a.Submit(with(newDeployment("d", "app"), func(d *model.Deployment) {
				d.Status, d.RunningCommitHash = model.DeploymentStatus_DEPLOYMENT_PLANNED, c.running
				d.Trigger.SyncStrategy, d.Trigger.Commander = model.SyncStrategy_PIPELINE, "alice"
				d.Stages = []*model.PipelineStage{
					{Id: "a", Name: "A", Status: model.StageStatus_STAGE_NOT_STARTED_YET, CreatedAt: 1, UpdatedAt: 1},
				}
			}))
			when, _, _ := strings.Cut(c.at, " ")
			cp.awaitCall(t, "Paused a "+when)
			cp.await(t, "the begin", func() bool { return cp.deploying["app"] })
			a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c", "d")})
			require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, cp.awaitEnd(t, "d").GetStatus())
			cp.await(t, "the end", func() bool { return !cp.deploying["app"] })
			cp.mu.Lock()
			defer cp.mu.Unlock()
			last := cp.sync["app"]
			require.Equal(t, c.want.GetStatus(), last.GetStatus())
			require.Equal(t, c.want.GetHeadDeploymentId(), last.GetHeadDeploymentId())
			require.Equal(t, c.want.GetShortReason(), last.GetShortReason())
		})
	}
}
