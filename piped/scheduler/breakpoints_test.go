// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/breakpoint"
	"github.com/pipedeck/pipedeck/piped/scheduler"
)

// pausedWhen is the word of the breakpoint in a note; "over" when the stage is not paused any more.
func pausedWhen(note string) string {
	var n struct{ When string }
	if err := json.Unmarshal([]byte(note), &n); err != nil {
		return err.Error()
	}
	if n.When == "" {
		return "over"
	}
	return n.When
}

func breakAt(t *testing.T, texts ...string) func(*scheduler.Options) {
	t.Helper()
	list, err := breakpoint.Parse(texts)
	require.NoError(t, err)
	set := breakpoint.NewSet(list, func() bool { return true }, slog.New(slog.NewTextHandler(io.Discard, nil)))
	return func(o *scheduler.Options) { o.Pauses.Breakpoints = set }
}

// goOn is what a user says about the stage with that name.
func (a *agent) goOn(t *testing.T, id, stage, how, options string) {
	t.Helper()
	a.commands.Replace([]*model.Command{a.decision(t, id, stage, how, options)})
}

func (a *agent) decision(t *testing.T, id, stage, how, options string) *model.Command {
	t.Helper()
	a.controlPlane.mu.Lock()
	defer a.controlPlane.mu.Unlock()
	for stageID, name := range a.controlPlane.names {
		if name == stage {
			return &model.Command{
				Id: id, DeploymentId: "d", StageId: stageID, Commander: "alice", Type: model.Command_APPROVE_STAGE,
				Metadata: map[string]string{"pipedeck/breakpoint": how, "pipedeck/breakpoint-options": options},
			}
		}
	}
	require.Fail(t, "there is no stage "+stage)
	return nil
}

func (a *agent) awaitAnswer(t *testing.T, id string) (status model.CommandStatus, why string) {
	t.Helper()
	a.controlPlane.await(t, "the answer to "+id, func() bool { return a.controlPlane.handled[id] != nil })
	answer := a.controlPlane.command(id)
	return answer.GetStatus(), string(answer.GetOutput())
}

func TestAStageIsPausedBeforeItRunsWithEditedOptions(t *testing.T) {
	t.Parallel()
	cp := startControlPlane(t)
	a := startAgentAt(t, cp, pipeline("with: {log: from-git}", "with: {log: b}"), breakAt(t, "before app/A"),
		func(o *scheduler.Options) {
			o.Pauses.Check = func(stage string, options []byte) error {
				if stage == "A" && string(options) == `{"typo": 1}` {
					return errors.New("typo is unknown")
				}
				return nil
			}
		})
	a.Submit(newDeployment("d", "app"))
	cp.awaitCall(t, "Paused A before")
	require.NotContains(t, cp.recorded(), "Stage A RUNNING 0", "nothing has begun")

	a.goOn(t, "typo", "A", "continue", `{"typo": 1}`)
	status, why := a.awaitAnswer(t, "typo")
	require.Equal(t, model.CommandStatus_COMMAND_FAILED, status)
	require.Equal(t, "the options are wrong: typo is unknown", why)
	a.goOn(t, "list", "A", "continue", `[1]`)
	_, why = a.awaitAnswer(t, "list")
	require.Equal(t, "the options are not a JSON object", why)
	a.goOn(t, "again", "A", "again", "")
	_, why = a.awaitAnswer(t, "again")
	require.Equal(t, "the stage has not run yet", why)

	a.goOn(t, "go", "A", "continue", `{"log": "edited"}`)
	status, _ = a.awaitAnswer(t, "go")
	require.Equal(t, model.CommandStatus_COMMAND_SUCCEEDED, status)
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, cp.awaitEnd(t, "d").GetStatus())
	log := cp.stageLog()
	require.Contains(t, log, "A 0 edited\n")
	require.NotContains(t, log, "from-git")
	require.Contains(t, log, `A 0 options edited at a breakpoint by alice: {"log":"edited"}`)
	require.Contains(t, log, "A 0 Paused before the stage for ")
	require.Equal(t, []string{
		"Planned PIPELINE", "Status RUNNING", "Paused A before", "Paused A over", "Stage A RUNNING 0",
		"Stage A SUCCESS 0", "Stage B RUNNING 0", "Stage B SUCCESS 0", "Completed SUCCESS",
	}, cp.recorded())
}

func TestAStageIsPausedAfterItAndRunAgain(t *testing.T) {
	t.Parallel()
	cp, calls := startControlPlane(t), filepath.Join(t.TempDir(), "calls")
	a := startAgentAt(t, cp, pipeline(fmt.Sprintf("id: first, with: {calls: %q}", calls), "with: {}"),
		breakAt(t, "after first"))
	a.Submit(newDeployment("d", "app"))
	cp.awaitCall(t, "Paused A after")
	a.goOn(t, "options", "A", "continue", `{"log": "too late"}`)
	_, why := a.awaitAnswer(t, "options")
	require.Contains(t, why, "options have no effect there")
	a.goOn(t, "again", "A", "again", fmt.Sprintf(`{"calls": %q, "log": "second"}`, calls))
	cp.awaitCall(t, "Stage A RUNNING 1")
	cp.await(t, "the second pause", func() bool {
		return slices.Contains(cp.calls[slices.Index(cp.calls, "Stage A RUNNING 1"):], "Paused A after")
	})
	a.goOn(t, "go", "A", "continue", "")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, cp.awaitEnd(t, "d").GetStatus())
	require.Contains(t, cp.stageLog(), "A 1 Run again from a breakpoint by alice")
	require.Contains(t, cp.stageLog(), "A 1 second")
	said, err := os.ReadFile(calls)
	require.NoError(t, err)
	require.Equal(t, "A 0\nA 1 run 1\n", string(said), "a run is not an attempt after a crash")
	require.Contains(t, cp.pauses["A"], `"run":1`, "the next piped knows it")
	require.Equal(t, []string{
		"Planned PIPELINE", "Status RUNNING", "Stage A RUNNING 0", "Paused A after", "Paused A over",
		"Stage A RUNNING 1", "Paused A after", "Stage A SUCCESS 1", "Stage B RUNNING 0", "Stage B SUCCESS 0",
		"Completed SUCCESS",
	}, cp.recorded())
}

func TestAFailedStageIsPausedAndGoesOnAsSkippedOrFailed(t *testing.T) {
	t.Parallel()
	cp := startControlPlane(t)
	a := startAgentAt(t, cp, pipeline("with: {do: error}", "with: {do: fail}"), breakAt(t, "failure"))
	a.Submit(newDeployment("d", "app"))
	cp.awaitCall(t, "Paused A failure")
	require.Contains(t, cp.pauses["A"], "the moon is missing")
	require.NotContains(t, cp.recorded(), "Stage A FAILURE 0", "nothing is reported as failed")
	a.goOn(t, "skip", "A", "skip", "")
	cp.awaitCall(t, "Paused B failure")
	require.Equal(t, "Skipped at a breakpoint by alice", cp.report("A").GetStatusReason())
	a.goOn(t, "go", "B", "continue", "")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_FAILURE, cp.awaitEnd(t, "d").GetStatus())
	require.Contains(t, cp.recorded(), "Stage A SKIPPED 0")
	require.Contains(t, cp.recorded(), "Stage B FAILURE 0")
	require.Contains(t, cp.recorded(), "Stage ROLLBACK SUCCESS 0")
}

func TestAFailureOutsideOfAnAttemptIsPausedToo(t *testing.T) {
	t.Parallel()
	cp, spec := startControlPlane(t), pipeline("with: {do: crash}")
	a := startAgentAt(t, cp, spec, breakAt(t, "failure"))
	a.Submit(newDeployment("d", "app"))
	cp.awaitCall(t, "Paused A failure")
	require.Contains(t, cp.pauses["A"], "also in a second attempt")
	a.goOn(t, "again", "A", "again", `{"log": "well"}`)
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, cp.awaitEnd(t, "d").GetStatus())
	require.Contains(t, cp.recorded(), "Stage A SUCCESS 2")
}

func TestACancellationEndsAPauseWithoutTheStage(t *testing.T) {
	t.Parallel()
	cp := startControlPlane(t)
	a := startAgentAt(t, cp, pipeline("with: {}", "with: {}"), breakAt(t, "before B"))
	a.Submit(newDeployment("d", "app"))
	cp.awaitCall(t, "Paused B before")
	a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c", "d")})
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_CANCELLED, cp.awaitEnd(t, "d").GetStatus())
	require.Contains(t, cp.recorded(), "Stage ROLLBACK SUCCESS 0")
	require.Equal(t, "over", pausedWhen(cp.pauses["B"]))
	require.Nil(t, cp.report("B"), "it has not begun")
}

// pausedNote is what was saved last of the pause of a stage.
func (c *controlPlane) pausedNote(stage string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pauses[stage]
}

// As the next piped finds it.
func (c *controlPlane) left(id string) *model.Deployment {
	c.mu.Lock()
	defer c.mu.Unlock()
	return with(newDeployment(id, "app"), func(d *model.Deployment) {
		d.Status, d.Trigger.SyncStrategy = model.DeploymentStatus_DEPLOYMENT_RUNNING, model.SyncStrategy_PIPELINE
		d.Stages = c.planned[id].GetStages()
		for _, stage := range d.GetStages() {
			name := c.names[stage.GetId()]
			if report := c.stage[name]; report != nil {
				stage.Status, stage.RetriedCount = report.GetStatus(), report.GetRetriedCount()
				stage.CompletedAt = report.GetCompletedAt()
			}
			if note := c.pauses[name]; note != "" {
				stage.Metadata = map[string]string{scheduler.PauseMetadataKey: note}
			}
		}
	})
}

func TestTheNextPipedStopsAtTheSameBreakpointAndRunsNoStageTwice(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"before", "after"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			cp, calls := startControlPlane(t), filepath.Join(t.TempDir(), "calls")
			spec := pipeline(fmt.Sprintf("with: {calls: %q}", calls), "with: {}")
			first := startAgentAt(t, cp, spec, breakAt(t, when+" A"))
			first.Submit(newDeployment("d", "app"))
			cp.awaitCall(t, "Paused A "+when)
			first.stop()
			note := cp.pauses["A"]
			cp.pauses["A"] = "" // the next one says so itself
			left := cp.left("d")
			left.Stages[0].Metadata = map[string]string{scheduler.PauseMetadataKey: note}
			second := startAgentAt(t, cp, spec) // without a breakpoint: what is paused stays paused
			second.Submit(left)
			cp.await(t, "the second pause", func() bool { return cp.pauses["A"] != "" })
			second.goOn(t, "go", "A", "continue", "")
			require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, cp.awaitEnd(t, "d").GetStatus())
			require.Contains(t, cp.recorded(), "Stage A SUCCESS 0", "it is the same attempt")
			begun, err := os.ReadFile(calls)
			require.NoError(t, err)
			require.Equal(t, "A 0\n", string(begun), "the plugin got the stage once")
		})
	}
}

func TestAStageThatRanWithEditedOptionsWhenPipedEndedWaitsForThemAgain(t *testing.T) {
	t.Parallel()
	for name, kept := range map[string]string{
		"after the first end":  `{"held": 5, "edited": true}`,
		"after the second end": `{"when": "before", "since": 5, "edited": true}`,
	} {
		t.Run(name, func(t *testing.T) { t.Parallel(); waitsForOptionsAgain(t, kept) })
	}
}

func waitsForOptionsAgain(t *testing.T, kept string) {
	t.Helper()
	cp := startControlPlane(t)
	a := startAgentAt(t, cp, pipeline("with: {}"))
	a.Submit(with(newDeployment("d", "app"), func(d *model.Deployment) {
		d.Status, d.Trigger.SyncStrategy = model.DeploymentStatus_DEPLOYMENT_RUNNING, model.SyncStrategy_PIPELINE
		d.Stages = []*model.PipelineStage{{
			Id: "a", Name: "A", Status: model.StageStatus_STAGE_RUNNING, CreatedAt: 1, UpdatedAt: 1,
			Metadata: map[string]string{scheduler.PauseMetadataKey: kept},
		}}
		cp.names["a"] = "A"
	}))
	cp.awaitCall(t, "Paused A before")
	require.Contains(t, cp.pauses["A"], "give them again")
	require.Contains(t, cp.pauses["A"], `"edited":true`, "the next piped asks for them, too")
	a.goOn(t, "plain", "A", "continue", "")
	status, why := a.awaitAnswer(t, "plain")
	require.Equal(t, model.CommandStatus_COMMAND_FAILED, status)
	require.Contains(t, why, "pipedeck continue --with FILE")
	a.goOn(t, "go", "A", "continue", `{"log": "edited"}`)
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, cp.awaitEnd(t, "d").GetStatus())
	require.Contains(t, cp.stageLog(), "A 1 edited")
}

// The time of a deployment stands still while a stage is paused, also before a restart of piped.
func TestAPausedDeploymentDoesNotTimeOut(t *testing.T) {
	t.Parallel()
	cp := startControlPlane(t)
	a := startAgentAt(t, cp, "  timeout: 5m\n"+pipeline("with: {}"),
		func(o *scheduler.Options) { o.LastChance = time.Millisecond })
	since := time.Now().Add(-time.Hour)
	a.Submit(with(newDeployment("d", "app"), func(d *model.Deployment) {
		d.Status, d.Trigger.SyncStrategy = model.DeploymentStatus_DEPLOYMENT_RUNNING, model.SyncStrategy_PIPELINE
		d.CreatedAt = since.Unix()
		d.Stages = []*model.PipelineStage{{
			Id: "a", Name: "A", Status: model.StageStatus_STAGE_NOT_STARTED_YET, CreatedAt: since.Unix(),
			Metadata: map[string]string{
				scheduler.PauseMetadataKey: fmt.Sprintf(`{"when": "before", "since": %d}`, since.UnixMilli()),
			},
		}}
		cp.names["a"] = "A"
	}))
	cp.awaitCall(t, "Paused A before")
	a.goOn(t, "go", "A", "continue", "")
	end := cp.awaitEnd(t, "d")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, end.GetStatus(), end.GetStatusReason())
}

func TestAStageThatRanWithEditedOptionsIsNotRunAgainWithThoseInGitUnasked(t *testing.T) {
	t.Parallel()
	cp := startControlPlane(t)
	a := startAgentAt(t, cp, pipeline("with: {}"), breakAt(t, "before A", "after A"))
	a.Submit(newDeployment("d", "app"))
	cp.awaitCall(t, "Paused A before")
	a.goOn(t, "edit", "A", "continue", `{"log": "edited"}`)
	cp.awaitCall(t, "Paused A after")
	require.Contains(t, cp.pausedNote("A"), `"edited":true`)
	a.goOn(t, "again", "A", "again", "")
	cp.awaitCall(t, "Stage A RUNNING 1")
	cp.await(t, "the second pause", func() bool {
		return slices.Contains(cp.calls[slices.Index(cp.calls, "Stage A RUNNING 1"):], "Paused A after")
	})
	require.Contains(t, cp.pausedNote("A"), `"edited":true`, "it has run with them again")
	a.goOn(t, "go", "A", "continue", "")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, cp.awaitEnd(t, "d").GetStatus())
	require.Contains(t, cp.stageLog(), "A 1 edited")

	next := startControlPlane(t)
	b := startAgentAt(t, next, pipeline("with: {}"), breakAt(t, "after A"))
	b.Submit(with(newDeployment("d", "app"), func(d *model.Deployment) {
		d.Status, d.Trigger.SyncStrategy = model.DeploymentStatus_DEPLOYMENT_RUNNING, model.SyncStrategy_PIPELINE
		d.Stages = []*model.PipelineStage{{
			Id: "a", Name: "A", Status: model.StageStatus_STAGE_RUNNING, CreatedAt: 1, UpdatedAt: 1,
			Metadata: map[string]string{
				scheduler.PauseMetadataKey: `{"when": "after", "since": 5, "status": "SUCCESS", "edited": true}`,
			},
		}}
		next.names["a"] = "A"
	}))
	next.awaitCall(t, "Paused A after")
	b.goOn(t, "plain", "A", "again", "")
	status, why := b.awaitAnswer(t, "plain")
	require.Equal(t, model.CommandStatus_COMMAND_FAILED, status)
	require.Contains(t, why, "pipedeck continue --again --with FILE")
	b.goOn(t, "git", "A", "again", `{"log": "as in Git"}`)
	next.await(t, "the second pause", func() bool {
		again := slices.Index(next.calls, "Stage A RUNNING 1")
		return again > 0 && slices.Contains(next.calls[again:], "Paused A after")
	})
	require.Contains(t, next.pausedNote("A"), `"held":`, "the first pause counts, too")
	b.goOn(t, "go", "A", "continue", "")
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, next.awaitEnd(t, "d").GetStatus())
	require.Contains(t, next.stageLog(), "A 1 as in Git")
}
