// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/failpoint/failpointtest"
	"github.com/pipedeck/pipedeck/piped/scheduler"
	"github.com/pipedeck/pipedeck/piped/source"
	"github.com/pipedeck/pipedeck/piped/supersede"
)

// newer returns a deployment of the application by a commit that supersedes older ones. Those of the same second differ
// in the microsecond.
func newer(id, rule string, micro int) *model.Deployment {
	at := supersede.Created(time.UnixMicro(int64(micro)))
	return noted(noted(newDeployment(id, "app"), supersede.Notes(rule)), at)
}

// noted returns the deployment with more shared metadata.
func noted(d *model.Deployment, notes map[string]string) *model.Deployment {
	return with(d, func(d *model.Deployment) {
		values := maps.Clone(d.GetMetadataV2().GetShared().GetKeyValues())
		if values == nil {
			values = map[string]string{}
		}
		maps.Copy(values, notes)
		d.MetadataV2 = &model.DeploymentMetadata{Shared: &model.DeploymentMetadata_KeyValues{KeyValues: values}}
	})
}

// startWaiting runs a plugin with the stages A, WAIT and ROLLBACK. The deployment "d1" has the options of A and WAIT;
// those of others end at once.
func startWaiting(t *testing.T, cp *controlPlane, a, wait string, changes ...func(*scheduler.Options)) *agent {
	t.Helper()
	plugin := pluginWith(t, map[string]any{"stages": []string{"A", "WAIT", "ROLLBACK"}, "rollback": "ROLLBACK"})
	spec := "  name: app\n  planner: {alwaysUsePipeline: true}\n  pipeline:\n    stages:\n" +
		"    - {name: A, with: %s}\n    - {name: WAIT, with: %s}\n"
	prepare := func(ctx context.Context, wanted source.Wanted) (*source.Source, error) {
		if wanted.Deployment.GetId() == "d1" {
			return always(fmt.Sprintf(spec, a, wait))(ctx, wanted)
		}
		return always(fmt.Sprintf(spec, "{}", "{}"))(ctx, wanted)
	}
	return startAgentWith(t, cp, []config.Plugin{plugin}, prepare, changes...)
}

func TestANewerCommitEndsADeploymentThatWaitsAndContinues(t *testing.T) {
	t.Parallel()
	a := startWaiting(t, startControlPlane(t), "{}", "{do: block}")
	a.Submit(newer("d1", config.SupersedeWaiting, 1))
	a.controlPlane.awaitCall(t, "Stage WAIT RUNNING 0")
	a.Submit(newer("new-deployment", config.SupersedeWaiting, 2))
	end := a.controlPlane.awaitEnd(t, "d1")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, end.GetStatus())
	require.Equal(t, "Superseded by deployment new-depl (commit c0ffee) while executing stage WAIT",
		end.GetStatusReason())
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS,
		a.controlPlane.awaitEnd(t, "new-deployment").GetStatus())
	calls := a.controlPlane.recorded()
	require.Contains(t, calls, "Stage ROLLBACK SUCCESS 0", "what it has changed is undone")
	require.Less(t, slices.Index(calls, "Shared metadata"), slices.Index(calls, "Stage WAIT CANCELLED 0"))
	a.stop()
	require.Equal(t, map[string]string{
		"pipedeck/superseded-by": "new-deployment", "pipedeck/superseded-by-commit": "c0ffee",
	}, a.controlPlane.shared)
}

func TestABusyDeploymentIsSupersededWhenItWaitsOrAtOnceAsTheNewerCommitSays(t *testing.T) {
	t.Parallel()
	for rule, c := range map[string]struct{ during, status string }{
		config.Supersede:        {"A", "CANCELLED"},
		config.SupersedeWaiting: {"WAIT", "SUCCESS"},
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			busy := failpointtest.NewGate(t)
			a := startWaiting(t, startControlPlane(t), fmt.Sprintf("{do: hold, file: %q}", busy.Path), "{do: block}")
			a.Submit(newer("d1", "queue", 1))
			busy.Await(t)
			a.Submit(newer("d2", rule, 2))
			if rule == config.SupersedeWaiting {
				busy.Open()
			}
			end := a.controlPlane.awaitEnd(t, "d1")
			require.Equal(t, "Superseded by deployment d2 (commit c0ffee) while executing stage "+c.during,
				end.GetStatusReason())
			require.Contains(t, a.controlPlane.recorded(), "Stage A "+c.status+" 0")
			require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d2").GetStatus())
		})
	}
}

func TestWithoutTheRuleANewerCommitWaits(t *testing.T) {
	t.Parallel()
	waits := failpointtest.NewGate(t)
	a := startWaiting(t, startControlPlane(t), "{}", fmt.Sprintf("{do: hold, file: %q}", waits.Path))
	a.Submit(newer("d1", config.SupersedeWaiting, 1), newer("d2", "queue", 2))
	waits.Await(t)
	waits.Open()
	for _, id := range []string{"d1", "d2"} {
		require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, id).GetStatus())
	}
}

func TestQueuedCommitsCollapseIntoTheNewest(t *testing.T) {
	t.Parallel()
	busy := failpointtest.NewGate(t)
	a := startWaiting(t, startControlPlane(t), fmt.Sprintf("{do: hold, file: %q}", busy.Path), "{}")
	a.Submit(newer("d1", config.SupersedeWaiting, 1))
	busy.Await(t)
	// As a control plane may list them: in any order.
	a.Submit(newer("d4", config.SupersedeWaiting, 4), newer("d2", config.SupersedeWaiting, 2),
		newer("d3", "queue", 3))
	for _, id := range []string{"d2", "d3"} {
		end := a.controlPlane.awaitEnd(t, id)
		require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, end.GetStatus())
		require.Equal(t, "Superseded by deployment d4 (commit c0ffee) before it started", end.GetStatusReason())
	}
	a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c", "d4")})
	require.Equal(t, "Cancelled by carol while planning", a.controlPlane.awaitEnd(t, "d4").GetStatusReason())
	busy.Open()
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d1").GetStatus(),
		"nothing supersedes it any more")
}

func TestWhatAUserHasGoneBackToIsNotSuperseded(t *testing.T) {
	t.Parallel()
	waits := failpointtest.NewGate(t)
	a := startWaiting(t, startControlPlane(t), "{}", fmt.Sprintf("{do: hold, file: %q}", waits.Path))
	a.Submit(noted(newDeployment("d1", "app"), map[string]string{"pipedeck/newer-commit": "c2"}))
	waits.Await(t)
	a.Submit(newer("d2", config.Supersede, 2))
	waits.Open()
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d1").GetStatus())
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d2").GetStatus())
}

func TestTheNextPipedSupersedesAsTheOneBeforeWouldHave(t *testing.T) {
	t.Parallel()
	left := func(status model.StageStatus, reason string) *model.Deployment {
		d := taken(model.SyncStrategy_PIPELINE, stage("A", 0, model.StageStatus_STAGE_SUCCESS),
			because(stage("WAIT", 1, status), reason), stage("ROLLBACK", 0, waiting))
		d.Id = "d1"
		return d
	}
	noteOf := supersede.By{Deployment: "d2", Commit: "c0ffee"}.Notes()
	for name, c := range map[string]struct {
		old    *model.Deployment
		reason string
	}{
		"before it was decided": {left(running, ""),
			"Superseded by deployment d2 (commit c0ffee) while executing stage WAIT"},
		"before the stage has ended": {noted(left(running, ""), noteOf),
			"Superseded by deployment d2 (commit c0ffee) while executing stage WAIT"},
		"before the rollback": {
			noted(left(model.StageStatus_STAGE_CANCELLED, "Superseded by deployment d2 (commit c0ffee)"), noteOf),
			"Superseded by deployment d2 (commit c0ffee) while executing stage WAIT"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startWaiting(t, startControlPlane(t), "{}", "{do: block}")
			// The trigger may be faster than the list of what the piped before has left.
			a.Controller.Submit(newer("d2", config.SupersedeWaiting, 2))
			a.Begin(c.old)
			end := a.controlPlane.awaitEnd(t, "d1")
			require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, end.GetStatus())
			require.Equal(t, c.reason, end.GetStatusReason())
			require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d2").GetStatus())
			calls := a.controlPlane.recorded()
			require.Contains(t, calls, "Stage ROLLBACK SUCCESS 0")
			if c.old.GetStages()[1].GetStatus() == running {
				require.Contains(t, strings.Join(calls, "\n"), "Stage WAIT CANCELLED")
			}
			require.Less(t, slices.Index(calls, "Completed CANCELLED"), slices.Index(calls, "Stage A RUNNING 0"),
				"the older one ends before the newer one starts")
		})
	}
}
