// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package planner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/pipedeck/pipedeck/api/controlplane/pipedservice"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/planner"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginhost/plugintest"
	"github.com/pipedeck/pipedeck/piped/source"
)

// controlPlane answers the planner; success is the last successful deployment.
type controlPlane struct {
	pipedservice.PipedServiceClient
	success *model.ApplicationDeploymentReference
	planned *pipedservice.ReportDeploymentPlannedRequest
}

func (c *controlPlane) GetApplicationMostRecentDeployment(
	context.Context, *pipedservice.GetApplicationMostRecentDeploymentRequest, ...grpc.CallOption,
) (*pipedservice.GetApplicationMostRecentDeploymentResponse, error) {
	if c.success == nil {
		return nil, status.Error(codes.NotFound, "none")
	}
	return &pipedservice.GetApplicationMostRecentDeploymentResponse{Deployment: c.success}, nil
}

func (c *controlPlane) ReportDeploymentPlanned(
	_ context.Context, r *pipedservice.ReportDeploymentPlannedRequest, _ ...grpc.CallOption,
) (*pipedservice.ReportDeploymentPlannedResponse, error) {
	c.planned = r
	return &pipedservice.ReportDeploymentPlannedResponse{}, r.Validate()
}

// host runs "deployer", which has a quick sync and this opinion, and "steps", which owns stages only.
func host(t *testing.T, opinion string) *pluginhost.Host {
	t.Helper()
	return plugintest.Host(t,
		plugintest.Entry(t, "steps", testPlugin, map[string]any{"stages": []string{"WAIT", "NOTHING"}}),
		plugintest.Entry(t, "deployer", testPlugin, map[string]any{
			"stages": []string{"SYNC", "ROLLOUT", "UNDO"}, "quick": "SYNC", "rollback": "UNDO", "strategy": opinion,
			"versions": []string{"v1", "v2"},
		}),
		plugintest.Entry(t, "other", testPlugin, map[string]any{"stages": []string{"OTHER"}, "quick": "OTHER"}))
}

func deployment() *model.Deployment {
	return &model.Deployment{
		Id: "d", ApplicationId: "a", ApplicationName: "app", PipedId: "piped", ProjectId: "project",
		GitPath: &model.ApplicationGitPath{Repo: &model.ApplicationGitRepository{Id: "repo"}, Path: "app"},
		Trigger: &model.DeploymentTrigger{
			Commit:    &model.Commit{Hash: "new", Message: "Release it", Author: "dev", Branch: "main", CreatedAt: 1},
			Timestamp: 1,
		},
	}
}

func ran() *model.ApplicationDeploymentReference {
	return &model.ApplicationDeploymentReference{
		DeploymentId: "before", ConfigFilename: "old.pipecd.yaml", StartedAt: 1,
		Trigger: &model.DeploymentTrigger{Commit: &model.Commit{Hash: "old"}, Timestamp: 1},
	}
}

const stages = "  pipeline: {stages: [{name: WAIT, with: {a: 1}}, {name: ROLLOUT}, {name: WAIT}]}\n"

func TestStrategyFollowsTheRulesInTheirOrder(t *testing.T) {
	t.Parallel()
	quick, pipeline := model.SyncStrategy_QUICK_SYNC, model.SyncStrategy_PIPELINE
	for name, c := range map[string]struct {
		spec    string
		opinion string
		first   bool
		change  func(*model.Deployment)
		want    model.SyncStrategy
		summary string
	}{
		"the trigger names it": {
			spec: stages + "  planner: {alwaysUsePipeline: true}\n", want: quick, summary: "asked for",
			change: func(d *model.Deployment) {
				d.Trigger.SyncStrategy, d.Trigger.StrategySummary, d.Trigger.Commander = quick, "asked for", "carol"
			},
		},
		"no pipeline": {
			spec: "  plugins: {deployer: {}}\n", opinion: "PIPELINE", want: quick,
			summary: "Quick sync: no pipeline is configured",
		},
		"always the pipeline": {
			spec: stages + "  planner: {alwaysUsePipeline: true}\n  commitMatcher: {quickSync: .*}\n", first: true,
			want: pipeline, summary: "Pipeline: alwaysUsePipeline is set",
		},
		"commit message asks for the pipeline": {
			spec: stages + "  commitMatcher: {pipeline: ^Release}\n", first: true, want: pipeline,
		},
		"commit message asks for a quick sync": {
			spec: stages + "  commitMatcher: {quickSync: ^Release}\n", opinion: "PIPELINE", want: quick,
		},
		"commit message does not count for a command": {
			spec: stages + "  commitMatcher: {quickSync: ^Release}\n", opinion: "PIPELINE", want: pipeline,
			summary: "the plugin says PIPELINE",
			change:  func(d *model.Deployment) { d.Trigger.Commander = "carol" },
		},
		"first deployment": {
			spec: stages, opinion: "PIPELINE", first: true, want: quick,
			summary: "Quick sync: the first deployment of the application",
		},
		"the plugin wants pipeline": {
			spec: stages, opinion: "PIPELINE", want: pipeline, summary: "the plugin says PIPELINE",
		},
		"the plugin wants quick": {
			spec: stages, opinion: "QUICK_SYNC", want: quick, summary: "the plugin says QUICK_SYNC",
		},
		"no plugin has an opinion": {
			spec: stages, want: pipeline,
			summary: "Sync with the specified pipeline, since no plugin has an opinion on the strategy",
		},
		"the plugin's error is left": {spec: stages, opinion: "error", want: pipeline},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cp := &controlPlane{}
			if !c.first {
				cp.success = ran()
			}
			d := deployment()
			if c.change != nil {
				c.change(d)
			}
			planned, err := plan(t, cp, host(t, c.opinion), c.spec, d)
			require.NoError(t, err)
			require.Equal(t, c.want, planned.GetTrigger().GetSyncStrategy())
			require.Equal(t, c.want, cp.planned.GetSyncStrategy())
			if c.summary != "" {
				require.Equal(t, c.summary, planned.GetSummary())
			}
			if !c.first {
				require.Equal(t, "old", cp.planned.GetRunningCommitHash())
				require.Equal(t, "old.pipecd.yaml", cp.planned.GetRunningConfigFilename())
			}
		})
	}
}

func TestAPluginCanRefuseToPlanWhatCannotWork(t *testing.T) {
	t.Parallel()
	cp := &controlPlane{success: ran()}
	_, err := plan(t, cp, host(t, "refuse"), stages, deployment())
	require.EqualError(t, err, "plugin deployer: it cannot work as it is configured")
	require.Nil(t, cp.planned)
}

func TestAPluginsErrorIsReportedWithoutTheWordsOfGRPC(t *testing.T) {
	t.Parallel()
	cp := &controlPlane{success: ran()}
	_, err := plan(t, cp, host(t, "stuck"), stages, deployment())
	require.EqualError(
		t, err, "plugin deployer could not build the stages of the pipeline: decode the options of stage 1: no number",
	)
	require.Equal(t, codes.Internal, status.Code(err), "programs read the code")
}

func plan(
	t *testing.T, cp *controlPlane, h *pluginhost.Host, spec string, d *model.Deployment,
) (*model.Deployment, error) {
	t.Helper()
	return planner.New(planner.Options{
		Plugins: h, ControlPlane: cp,
		Sources: sources{prepare: func(_ context.Context, commit string) (*source.Source, error) {
			if commit == "lost" {
				return nil, errors.New("no such commit")
			}
			application, err := config.ParseApplication(
				[]byte("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: app\n"+spec),
				"app/app.pipecd.yaml",
			)
			return &source.Source{Config: application}, err
		}},
	}).Plan(t.Context(), d)
}

func TestPipelineStagesAreChainedAndRollbackStagesComeLast(t *testing.T) {
	t.Parallel()
	cp := &controlPlane{success: ran()}
	planned, err := plan(t, cp, host(t, "PIPELINE"), stages, deployment())
	require.NoError(t, err)
	var names []string
	previous := ""
	for _, stage := range planned.GetStages() {
		names = append(names, fmt.Sprint(stage.GetName(), " ", stage.GetIndex()))
		require.NoError(t, uuid.Validate(stage.GetId()))
		require.Equal(t, model.StageStatus_STAGE_NOT_STARTED_YET, stage.GetStatus())
		if stage.GetRollback() {
			require.Empty(t, stage.GetRequires())
			continue
		}
		if previous != "" {
			require.Equal(t, []string{previous}, stage.GetRequires())
		}
		previous = stage.GetId()
	}
	require.Equal(t, []string{"WAIT 0", "ROLLOUT 1", "WAIT 2", "UNDO 1"}, names)
	require.Len(t, planned.GetVersions(), 2)
}

func TestPipelineStagesRequireWhatTheirNeedsName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pipeline string
		want     []string // "index after index,index" in the order of the plan
	}{
		"without needs each waits for the one before": {
			"[{name: WAIT}, {name: WAIT}, {name: WAIT}]", []string{"0 after ", "1 after 0", "2 after 1"},
		},
		"a diamond": {
			"[{name: WAIT, id: a}, {name: WAIT, id: b, needs: [a]}, {name: WAIT, id: c, needs: [a]}, {name: WAIT, " +
				"needs: [c, b]}]",
			[]string{"0 after ", "1 after 0", "2 after 0", "3 after 1,2"},
		},
		"empty needs wait for nothing": {
			"[{name: WAIT}, {name: WAIT, needs: []}, {name: WAIT}]", []string{"0 after ", "1 after ", "2 after 1"},
		},
		"a stage follows what it needs also when the file has them the other way round": {
			"[{name: WAIT, needs: [last]}, {name: WAIT, id: last, needs: []}]", []string{"1 after ", "0 after 1"},
		},
		"a stage that its plugin left out passes on what it needs": {
			"[{name: WAIT, id: a}, {name: WAIT, id: b, needs: []}, {name: NOTHING, id: n, needs: [a, b]}, {name: " +
				"NOTHING}, {name: WAIT}]",
			[]string{"0 after ", "1 after ", "4 after 0,1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			planned, err := plan(
				t, &controlPlane{}, host(t, ""), "  pipeline: {stages: "+c.pipeline+"}\n", deployment(),
			)
			require.NoError(t, err)
			indexes := map[string]string{}
			for _, stage := range planned.GetStages() {
				indexes[stage.GetId()] = fmt.Sprint(stage.GetIndex())
			}
			var got []string
			for _, stage := range planned.GetStages() {
				var after []string
				for _, id := range stage.GetRequires() {
					after = append(after, indexes[id])
				}
				got = append(got, fmt.Sprintf("%d after %s", stage.GetIndex(), strings.Join(after, ",")))
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestStagesKeepTheIdsOfTheirAuthor(t *testing.T) {
	t.Parallel()
	planned, err := plan(t, &controlPlane{}, host(t, ""),
		"  pipeline: {stages: [{name: WAIT, id: bake}, {name: WAIT}, {name: NOTHING}, {name: WAIT, id: soak}]}\n",
		deployment())
	require.NoError(t, err)
	var ids []string
	for _, stage := range planned.GetStages() {
		ids = append(ids, stage.GetMetadata()[planner.StageIDMetadataKey])
	}
	require.Equal(t, []string{"bake", "", "soak"}, ids)
}

func TestQuickSyncStagesFollowEachOther(t *testing.T) {
	t.Parallel()
	planned, err := plan(
		t, &controlPlane{}, host(t, ""), "  plugins: {deployer: {}}\n  planner: {autoRollback: false}\n", deployment(),
	)
	require.NoError(t, err)
	require.Len(t, planned.GetStages(), 2)
	require.Equal(t, "SYNC", planned.GetStages()[0].GetName())
	require.True(t, planned.GetStages()[1].GetRollback())
	require.Equal(
		t, planner.RollbackOnRequest, planned.GetStages()[1].GetMetadata()[planner.RollbackMetadataKey],
		"only when a user asks",
	)

	planned, err = plan(t, &controlPlane{}, host(t, ""), "  plugins: {deployer: {}, other: {}}\n", deployment())
	require.NoError(t, err)
	stages := planned.GetStages()
	require.Len(t, stages, 3)
	require.Empty(t, stages[0].GetRequires())
	require.Equal(t, []string{stages[0].GetId()}, stages[1].GetRequires())
	require.True(t, stages[2].GetRollback())
	require.Empty(t, stages[2].GetRequires())
	require.NotContains(t, stages[2].GetMetadata(), planner.RollbackMetadataKey)
}

func TestPluginsAreAskedInTheOrderOfTheirStages(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec string
		want []string
	}{
		"pipeline": {
			"  pipeline: {stages: [{name: OTHER}, {name: ROLLOUT}, {name: OTHER}]}\n",
			[]string{"OTHER", "SYNC", "UNDO"},
		},
		"plugins": {"  plugins: {other: {}, deployer: {}}\n", []string{"SYNC", "OTHER", "UNDO"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			planned, err := plan(t, &controlPlane{}, host(t, ""), c.spec, deployment())
			require.NoError(t, err)
			var names []string
			for _, stage := range planned.GetStages() {
				names = append(names, stage.GetName())
			}
			require.Equal(t, c.want, names)
		})
	}
}

func TestTheVersionIsUnknownWhenNoPluginReportsIt(t *testing.T) {
	t.Parallel()
	planned, err := plan(t, &controlPlane{}, host(t, ""), "  pipeline: {stages: [{name: WAIT}]}\n", deployment())
	require.NoError(t, err)
	require.Equal(t, "unknown", planned.GetVersions()[0].GetVersion())
	require.Equal(t, "Pipeline: plugin steps has no quick sync", planned.GetSummary())
}

func TestTheSummaryShowsWhatIsNotInGit(t *testing.T) {
	t.Parallel()
	d := deployment()
	d.Trigger.Commit.Hash = "incomplete"
	planned, err := plan(t, &controlPlane{}, host(t, ""), "  pipeline: {stages: [{name: WAIT}]}\n", d)
	require.NoError(t, err)
	require.Equal(
		t,
		"Pipeline: plugin steps has no quick sync (not complete in Git: app/a is a submodule; app/b is a pointer; "+
			"app/c is a pointer; and 1 more)",
		planned.GetSummary(),
	)
}

func TestLostRunningCommitDoesNotBlockDeployments(t *testing.T) {
	t.Parallel()
	cp := &controlPlane{success: ran()}
	cp.success.Trigger.Commit.Hash = "lost"
	planned, err := plan(t, cp, host(t, "PIPELINE"), stages, deployment())
	require.NoError(t, err)
	require.Empty(t, planned.GetRunningCommitHash())
	require.Contains(t, planned.GetSummary(), "planned without the running commit lost: no such commit")
}

func TestMistakesAreReportedWithTheirPlace(t *testing.T) {
	t.Parallel()
	h := host(t, "")
	_, err := plan(t, &controlPlane{}, h, "  timeout: soon\n", deployment())
	require.ErrorContains(t, err, "app/app.pipecd.yaml:5:")
	d := deployment()
	d.Trigger.SyncStrategy = model.SyncStrategy_PIPELINE
	_, err = plan(t, &controlPlane{}, h, "  plugins: {deployer: {}}\n", d)
	require.ErrorContains(t, err, "the application has none")
}
