// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/config"
	"github.com/pipedeck/pipedeck/piped/planner"
	"github.com/pipedeck/pipedeck/piped/pluginhost"
	"github.com/pipedeck/pipedeck/piped/pluginhost/plugintest"
	"github.com/pipedeck/pipedeck/piped/pluginservice"
	"github.com/pipedeck/pipedeck/piped/scheduler"
	"github.com/pipedeck/pipedeck/piped/source"
)

var testPlugin string

func TestMain(m *testing.M) { plugintest.Main(m, &testPlugin) }

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// agent is a Controller with all that it needs, for one test.
type agent struct {
	*scheduler.Controller
	controlPlane *controlPlane
	host         *pluginhost.Host
	commands     *pluginservice.Commands
	// stop ends the agent as SIGTERM does and waits.
	stop func()
}

// Submit makes deployments known as an answer of the control plane does.
func (a *agent) Submit(deployments ...*model.Deployment) { a.Begin(deployments...) }

// startAgent runs the test plugin as "p", owner of A, B and ROLLBACK, and gives every application the spec.
func startAgent(t *testing.T, spec string) *agent {
	t.Helper()
	return startAgentAt(t, startControlPlane(t), spec)
}

// startAgentEach is startAgentAt with a spec for each application, by name.
func startAgentEach(t *testing.T, specs map[string]string, changes ...func(*scheduler.Options)) *agent {
	t.Helper()
	return startTestPlugin(
		t,
		startControlPlane(t),
		func(ctx context.Context, wanted source.Wanted) (*source.Source, error) {
			return always(specs[wanted.Deployment.GetApplicationName()])(ctx, wanted)
		},
		changes...)
}

func startAgentAt(t *testing.T, cp *controlPlane, spec string, changes ...func(*scheduler.Options)) *agent {
	t.Helper()
	return startTestPlugin(t, cp, always(spec), changes...)
}

func startTestPlugin(t *testing.T, cp *controlPlane, prepare prepare, changes ...func(*scheduler.Options)) *agent {
	t.Helper()
	plugin := pluginWith(
		t,
		map[string]any{
			"stages":   []string{"A", "B", "C", "D", "SYNC", "ROLLBACK"},
			"rollback": "ROLLBACK",
			"versions": []string{"v1"},
		},
	)
	return startAgentWith(t, cp, []config.Plugin{plugin}, prepare, changes...)
}

// always gives every application the spec.
func always(spec string) prepare {
	return func(ctx context.Context, wanted source.Wanted) (*source.Source, error) {
		if spec == "slow" || wanted.Deployment.GetApplicationName() == "slow" {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		if spec == "" {
			return nil, errors.New("app.pipecd.yaml:3:5: no such key")
		}
		return configured(header+spec, "")
	}
}

func startAgentWith(
	t *testing.T, cp *controlPlane, plugins []config.Plugin, prepare prepare, changes ...func(*scheduler.Options),
) *agent {
	t.Helper()
	return startAgentOn(t, cp, pluginhost.Options{Plugins: plugins}, prepare, changes...)
}

// startAgentOn fills in what the host's options leave open.
func startAgentOn(
	t *testing.T, cp *controlPlane, hosting pluginhost.Options, prepare prepare, changes ...func(*scheduler.Options),
) *agent {
	t.Helper()
	client := cp.client(t)
	registry, commands := pluginservice.NewRegistry(), pluginservice.NewCommands()
	options := scheduler.Options{
		ControlPlane: client, Stages: registry, Metadata: registry, Commands: commands,
		Sources:     sources{prepare: prepare},
		RestartWait: time.Minute, ReportPause: time.Millisecond,
	}
	for _, change := range changes {
		change(&options)
	}
	server, err := pluginservice.Listen(pluginservice.Options{
		ControlPlane: client, Registry: registry, Commands: commands, ToolsDir: t.TempDir(), Faults: options.Faults,
	})
	require.NoError(t, err)
	hosting.BinaryDir, hosting.ServiceAddress = t.TempDir(), server.Address()
	hosting.RestartPause, hosting.GracePeriod = time.Millisecond, 2*time.Second
	host, err := pluginhost.New(hosting)
	require.NoError(t, err)
	options.Plugins = host
	c := scheduler.NewController(scheduler.ControllerOptions{
		Planner: planner.New(
			planner.Options{Plugins: host, ControlPlane: client, Sources: sources{prepare: prepare}},
		),
		Scheduler:    scheduler.New(options),
		ControlPlane: client, Deployments: registry, Scratches: registry, Commands: commands,
	})
	upper, stopUpper := context.WithCancel(context.Background())
	lower, stopLower := context.WithCancel(context.Background())
	done := make(chan error, 3)
	go func() { done <- server.Run(lower) }()
	go func() { done <- host.Run(lower) }()
	controllerDone := make(chan error, 1)
	go func() { controllerDone <- c.Run(upper) }()
	stopped := false
	stop := func() {
		if stopped {
			return
		}
		stopped = true
		stopUpper()
		require.NoError(t, <-controllerDone)
		stopLower()
		require.NoError(t, <-done)
		require.NoError(t, <-done)
	}
	t.Cleanup(stop)
	return &agent{Controller: c, controlPlane: cp, host: host, commands: commands, stop: stop}
}

// pipeline is a spec with stages A, B, C, … that have these options.
func pipeline(options ...string) string {
	var b strings.Builder
	b.WriteString("  name: app\n  planner: {alwaysUsePipeline: true}\n  pipeline:\n    stages:\n")
	for i, o := range options {
		fmt.Fprintf(&b, "    - {name: %s, %s}\n", []string{"A", "B", "C", "D"}[i%4], o)
	}
	return b.String()
}

func TestDeploymentRunsItsStagesInOrder(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {log: hello}", "with: {}"))
	a.Submit(newDeployment("d", "app"))
	end := a.controlPlane.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, end.GetStatus())
	require.Equal(t, []string{
		"Planned PIPELINE", "Status RUNNING",
		"Stage A RUNNING 0", "Stage A SUCCESS 0", "Stage B RUNNING 0", "Stage B SUCCESS 0",
		"Completed SUCCESS",
	}, a.controlPlane.recorded())
	require.Contains(t, a.controlPlane.stageLog(), "A 0 hello")
	plan := a.controlPlane.plan("d")
	require.Len(t, plan.GetStages(), 4, "two stages and their rollback stages")
	require.Equal(t, []string{plan.GetStages()[0].GetId()}, plan.GetStages()[1].GetRequires())
	require.Equal(t, "v1", plan.GetVersions()[0].GetVersion())
	a.controlPlane.await(t, "the application to be at rest", func() bool {
		return a.controlPlane.sync["app"].GetStatus() == model.ApplicationSyncStatus_SYNCED &&
			!a.controlPlane.deploying["app"] &&
			a.controlPlane.success["app"] != nil
	})
}

func TestAfterADeploymentThatGoesBackTheApplicationIsOutOfSync(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {}"))
	d := newDeployment("d", "app")
	d.MetadataV2 = &model.DeploymentMetadata{Shared: &model.DeploymentMetadata_KeyValues{
		KeyValues: map[string]string{"pipedeck/newer-commit": "c2"},
	}}
	a.Submit(d)
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d").GetStatus())
	a.controlPlane.await(t, "the application to be at rest", func() bool {
		return a.controlPlane.success["app"] != nil && !a.controlPlane.deploying["app"] &&
			a.controlPlane.sync["app"].GetStatus() != model.ApplicationSyncStatus_DEPLOYING
	})
	a.stop() // nothing is reported any more
	require.Equal(t, model.ApplicationSyncStatus_OUT_OF_SYNC, a.controlPlane.sync["app"].GetStatus())
}

func TestFailureRollsBackAndKeepsTheFirstReason(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {}", "with: {do: error}", "with: {}"))
	a.Submit(newDeployment("d", "app"))
	end := a.controlPlane.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_FAILURE, end.GetStatus())
	require.Equal(t, "Stage B failed: the moon is missing", end.GetStatusReason())
	calls := a.controlPlane.recorded()
	require.Equal(t, []string{
		"Planned PIPELINE", "Status RUNNING",
		"Stage A RUNNING 0", "Stage A SUCCESS 0", "Stage B RUNNING 0", "Stage B FAILURE 0", "Status ROLLING_BACK",
	}, calls[:7])
	require.Equal(t, []string{
		"Stage ROLLBACK RUNNING 0", "Stage ROLLBACK SUCCESS 0", "Stage ROLLBACK RUNNING 0", "Stage ROLLBACK SUCCESS 0",
		"Stage ROLLBACK RUNNING 0", "Stage ROLLBACK SUCCESS 0", "Completed FAILURE",
	}, calls[7:])
	_, requires := a.controlPlane.rollbacks("d")
	require.Equal(t, []string{"B 1"}, requires["ROLLBACK 0"], "the rollback follows the last executed stage")
	require.Contains(t, a.controlPlane.stageLog(), "B 0 the moon is missing")
	a.controlPlane.await(t, "the application to be out of sync", func() bool {
		return a.controlPlane.sync["app"].GetStatus() == model.ApplicationSyncStatus_OUT_OF_SYNC &&
			!a.controlPlane.deploying["app"]
	})
}

func TestStageOnlyApplicationIsPlannedOnItsFirstDeployment(t *testing.T) {
	t.Parallel()
	a := startAgent(t, "  name: app\n  pipeline: {stages: [{name: A}]}\n")
	a.Submit(newDeployment("d", "app"))
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d").GetStatus())
	require.Equal(t, "Pipeline: plugin p has no quick sync", a.controlPlane.plan("d").GetSummary())
}

func TestMistakesEndTheDeploymentAtOnceWithTheTrueCause(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ spec, want string }{
		"configuration": {"", "Planning failed: app.pipecd.yaml:3:5: no such key"},
		"unknown stage": {
			"  name: app\n  pipeline: {stages: [{name: SYNCC}]}\n",
			`no plugin owns stage "SYNCC"; did you mean SYNC? (known stages: A, B, C, D, ROLLBACK, SYNC)`,
		},
		"unknown plugin": {"  name: app\n  plugins: {kubernets: {}}\n", `no plugin is named "kubernets"`},
		"nothing to do":  {"  name: app\n  plugins: {p: {}}\n", "plugin p has no quick sync"},
		"no plugin":      {"  name: app\n", "no plugin is specified"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startAgent(t, c.spec)
			a.Submit(newDeployment("d", "app"))
			end := a.controlPlane.awaitEnd(t, "d")
			require.Equal(t, model.DeploymentStatus_DEPLOYMENT_FAILURE, end.GetStatus())
			require.Contains(t, end.GetStatusReason(), c.want)
		})
	}
}

func TestAPlanThatLacksItsPluginHasACauseAndASlipHasNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ spec, want string }{
		"a stage of another plugin": {"  name: app\n  pipeline: {stages: [{name: TERRAFORM_APPLY}]}\n",
			`{"kind":"NO_PLUGIN"}`},
		"another plugin":   {"  name: app\n  plugins: {terraform: {}}\n", `{"kind":"NO_PLUGIN"}`},
		"a misspelt stage": {"  name: app\n  pipeline: {stages: [{name: SYNCC}]}\n", ""},
		"no plugin at all": {"  name: app\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startAgent(t, c.spec)
			a.Submit(newDeployment("d", "app"))
			a.controlPlane.awaitEnd(t, "d")
			a.controlPlane.await(t, c.want, func() bool {
				return a.controlPlane.shared[scheduler.CauseMetadataKey] == c.want
			})
		})
	}
}

func TestStageOfAPluginThatDiesIsTriedOnceMore(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {do: crash-once}"))
	a.Submit(newDeployment("d", "app"))
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d").GetStatus())
	require.Equal(t, []string{
		"Planned PIPELINE", "Status RUNNING", "Stage A RUNNING 0", "Stage A RUNNING 1", "Stage A SUCCESS 1",
		"Completed SUCCESS",
	}, a.controlPlane.recorded())
	log := a.controlPlane.stageLog()
	require.Contains(t, log, `A 0 plugin "p" exited with code 7`)
	require.Contains(t, log, "A 1 Attempt 2 of stage A by plugin p")
}

func TestStageOfAPluginThatDiesTwiceFailsAndNamesThePlugin(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {do: crash}"))
	a.Submit(newDeployment("d", "app"))
	end := a.controlPlane.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_FAILURE, end.GetStatus())
	require.Contains(t, end.GetStatusReason(), `Stage A failed: plugin "p" exited with code 7`)
	require.Contains(t, end.GetStatusReason(), "also in a second attempt")
}

func TestExitedAndSkippedStages(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {do: skip}", "with: {do: exit}", "with: {}"))
	a.Submit(newDeployment("d", "app"))
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d").GetStatus())
	require.Equal(t, []string{
		"Planned PIPELINE", "Status RUNNING", "Stage A RUNNING 0", "Stage A SKIPPED 0", "Stage B RUNNING 0",
		"Stage B EXITED 0", "Completed SUCCESS",
	}, a.controlPlane.recorded())
}

func TestTimeoutsAreFailures(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ spec, want string }{
		"stage": {
			pipeline("timeout: 300ms, with: {do: block}"), "Stage A failed: the stage timed out after 300ms",
		},
		"deployment": {
			pipeline("with: {do: block}") + "  timeout: 3s\n",
			"The deployment timed out after 3s while executing stage A",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startAgent(t, c.spec)
			a.Submit(newDeployment("d", "app"))
			end := a.controlPlane.awaitEnd(t, "d")
			require.Equal(t, model.DeploymentStatus_DEPLOYMENT_FAILURE, end.GetStatus())
			require.Equal(t, c.want, end.GetStatusReason())
			require.Equal(t, model.StageStatus_STAGE_FAILURE, a.controlPlane.report("A").GetStatus())
			require.Contains(t, a.controlPlane.recorded(), "Status ROLLING_BACK")
		})
	}
}

func TestRollbackThatAnEarlierPipedBeganGoesOn(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {}"))
	stage := func(name string, status model.StageStatus, rollback bool) *model.PipelineStage {
		return &model.PipelineStage{
			Id:        name + "-id",
			Name:      name,
			Status:    status,
			Rollback:  rollback,
			CreatedAt: 1,
			UpdatedAt: 1,
		}
	}
	undone := stage("ROLLBACK", model.StageStatus_STAGE_SUCCESS, true)
	undone.Id = "undone"
	a.Submit(with(newDeployment("d", "app"), func(d *model.Deployment) {
		d.Status, d.StatusReason = model.DeploymentStatus_DEPLOYMENT_ROLLING_BACK, "Cancelled by dave"
		d.Trigger.SyncStrategy = model.SyncStrategy_PIPELINE
		d.Stages = []*model.PipelineStage{
			stage("A", model.StageStatus_STAGE_CANCELLED, false),
			undone,
			stage("ROLLBACK", model.StageStatus_STAGE_RUNNING, true),
		}
	}))
	end := a.controlPlane.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, end.GetStatus())
	require.Equal(t, "Cancelled by dave", end.GetStatusReason())
	require.Equal(
		t, []string{"Stage ROLLBACK-id RUNNING 1", "Stage ROLLBACK-id SUCCESS 1", "Completed CANCELLED"},
		a.controlPlane.recorded(),
	)
}

func TestRestartOfAPluginRunsItsStageAgain(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "marker")
	a := startAgent(t, pipeline(fmt.Sprintf("with: {do: block-once, file: %q}", marker)))
	a.Submit(newDeployment("d", "app"))
	require.Eventually(t, func() bool { _, err := os.Stat(marker); return err == nil }, time.Minute, time.Millisecond)
	require.NoError(t, a.host.Restart("p"))
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d").GetStatus())
	require.Contains(t, a.controlPlane.recorded(), "Stage A SUCCESS 1")
	require.Contains(t, a.controlPlane.stageLog(), "was stopped by piped")
}

func TestStopLeavesTheDeploymentAndTheNextPipedGoesOn(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "marker")
	cp := startControlPlane(t)
	first := startAgentAt(t, cp, pipeline("with: {}", fmt.Sprintf("with: {do: touch, file: %q}", marker)))
	first.Submit(newDeployment("d", "app"))
	require.Eventually(t, func() bool { _, err := os.Stat(marker); return err == nil }, time.Minute, time.Millisecond)
	first.stop()
	require.Equal(t, "Stage B RUNNING 0", cp.recorded()[len(cp.recorded())-1], "nothing is reported when piped stops")

	resumed := with(newDeployment("d", "app"), func(d *model.Deployment) {
		d.Status = model.DeploymentStatus_DEPLOYMENT_RUNNING
		d.Trigger.SyncStrategy = model.SyncStrategy_PIPELINE
		d.Stages = cp.plan("d").GetStages()
		d.Stages[0].Status = model.StageStatus_STAGE_SUCCESS
		d.Stages[1].Status = model.StageStatus_STAGE_RUNNING
	})
	before := len(cp.recorded())
	second := startAgentAt(t, cp, pipeline("with: {}", "with: {}"))
	second.Submit(resumed)
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, cp.awaitEnd(t, "d").GetStatus())
	require.Equal(t, []string{"Stage B RUNNING 1", "Stage B SUCCESS 1", "Completed SUCCESS"}, cp.recorded()[before:])
}

func TestSkipOnPathsIsSafeOnAFirstDeploymentAndSkipsLater(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("skipOn: {paths: [docs/**]}"))
	a.Submit(newDeployment("d1", "app"))
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d1").GetStatus())
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, a.controlPlane.report("A").GetStatus())
	a.Submit(newDeployment("d2", "app"))
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d2").GetStatus())
	require.Equal(t, model.StageStatus_STAGE_SKIPPED, a.controlPlane.report("A").GetStatus())
	require.Equal(t, "c0ffee", a.controlPlane.plan("d2").GetRunningCommitHash())
}

func TestApplicationsRunSideBySideAndOneDeploymentAtATimeEach(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {do: block}"))
	for i := range 20 {
		a.Submit(newDeployment(fmt.Sprintf("d%d", i), fmt.Sprintf("app%d", i%10)))
	}
	a.controlPlane.await(t, "ten running stages", func() bool {
		running := 0
		for _, call := range a.controlPlane.calls {
			if call == "Stage A RUNNING 0" {
				running++
			}
		}
		require.LessOrEqual(t, len(a.controlPlane.planned), 10)
		return running == 10
	})
}

func TestTheControllerIsIdleOnceItsLastDeploymentHasEnded(t *testing.T) {
	t.Parallel()
	a := startAgent(t, pipeline("with: {}"))
	for i := range 6 {
		a.Submit(newDeployment(fmt.Sprintf("d%d", i), fmt.Sprintf("app%d", i%2)))
	}
	for ended := 0; ended < 6; {
		select {
		case <-a.Idle():
		case <-t.Context().Done():
			require.Fail(t, "the last end is not reported")
		}
		a.controlPlane.mu.Lock()
		ended = 0
		for _, call := range a.controlPlane.calls {
			if call == "Completed SUCCESS" {
				ended++
			}
		}
		a.controlPlane.mu.Unlock()
	}
}

func TestCommandsOfAStageAreHandledAfterIt(t *testing.T) {
	t.Parallel()
	marker := filepath.Join(t.TempDir(), "marker")
	a := startAgent(t, pipeline(fmt.Sprintf("timeout: 3s, with: {do: touch, file: %q}", marker)))
	a.Submit(newDeployment("d", "app"))
	require.Eventually(t, func() bool { _, err := os.Stat(marker); return err == nil }, time.Minute, time.Millisecond)
	stage := a.controlPlane.plan("d").GetStages()[0].GetId()
	a.commands.Replace(
		[]*model.Command{
			{Id: "ok", Type: model.Command_APPROVE_STAGE, DeploymentId: "d", StageId: stage, Commander: "carol"},
		},
	)
	a.controlPlane.awaitEnd(t, "d")
	a.controlPlane.await(t, "the command", func() bool {
		return a.controlPlane.handled["ok"].GetStatus() == model.CommandStatus_COMMAND_SUCCEEDED
	})
}
