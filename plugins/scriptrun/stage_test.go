// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/deployment"
	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/wiretest"
)

const stageID = "script_run"

func start(t *testing.T) *wiretest.Harness {
	t.Helper()
	return startWith(t, stopGrace)
}

// brief is for scripts that do not end, or leave something that holds their output.
const brief = 300 * time.Millisecond

// startWith starts the plugin with the time that scripts have to end, and their output to come after them.
func startWith(t *testing.T, grace time.Duration) *wiretest.Harness {
	t.Helper()
	return wiretest.Start(t, sdk.ForStages(&plugin{stopGrace: grace}), wiretest.Options{Name: "scriptrun"})
}

// with returns a stage's options as JSON.
func with(t *testing.T, o options) string {
	t.Helper()
	data, err := json.Marshal(map[string]any{"run": o.Run, "env": o.Env, "onRollback": o.OnRollback})
	require.NoError(t, err)
	return string(data)
}

func TestAScriptRunsInTheApplicationsDirectory(t *testing.T) {
	t.Parallel()
	h := start(t)
	dir := t.TempDir()
	request := h.Request(stageScriptRun, with(t, options{Run: "pwd; cat file; echo problem >&2; [ -t 0 ] || echo " +
		"no terminal"}))
	request.Input.TargetDeploymentSource.ApplicationDirectory = dir
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte("content\n"), 0o600))
	resp, err := h.Deployment.ExecuteStage(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, resp.GetStatus())
	log := h.Piped.Log(stageID)
	require.Contains(t, log, dir+"\ncontent\nproblem\nno terminal\n")
	require.Contains(t, log, "The script succeeded")
	require.Equal(t, map[string]string{"started-0": "_"}, h.Piped.PluginMetadata("scriptrun"))
}

func TestAScriptKnowsItsDeployment(t *testing.T) {
	t.Parallel()
	h := start(t)
	request := h.Request(stageScriptRun, with(t, options{
		Run: `env | grep -E '^(SR_|OWN)' | sort`,
		Env: map[string]string{"OWN": "a b", "SR_SUMMARY": "mine"},
	}))
	d := request.Input.Deployment
	d.Labels = map[string]string{"team-name": "red"}
	d.Trigger.Commander = "alice"
	resp, err := h.Deployment.ExecuteStage(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, resp.GetStatus())
	for _, want := range []string{
		"OWN=a b", "SR_DEPLOYMENT_ID=deployment-1", "SR_APPLICATION_ID=application-1", "SR_APPLICATION_NAME=demo",
		"SR_TRIGGERED_AT=1800000000", "SR_TRIGGERED_COMMIT_HASH=0123456789abcdef", "SR_TRIGGERED_COMMANDER=alice",
		"SR_REPOSITORY_URL=file:///repo", "SR_SUMMARY=mine", "SR_IS_ROLLBACK=false", "SR_LABELS_TEAM_NAME=red",
	} {
		require.Contains(t, h.Piped.Log(stageID), want+"\n")
	}
	var raw map[string]any
	for line := range strings.Lines(h.Piped.Log(stageID)) {
		if text, ok := strings.CutPrefix(line, "SR_CONTEXT_RAW="); ok {
			require.NoError(t, json.Unmarshal([]byte(text), &raw))
		}
	}
	require.Equal(t, "deployment-1", raw["deploymentID"])
	require.Equal(t, map[string]any{"team-name": "red"}, raw["labels"])
	require.Equal(t, false, raw["isRollback"])
}

func TestAFailingScriptFailsTheStageWithItsExitCode(t *testing.T) {
	t.Parallel()
	for run, want := range map[string]string{
		"exit 3":       "exit code 3",
		"kill -9 $$":   "ended by signal 9 (killed)",
		"nosuchthing":  "exit code 127",
		"if then else": "exit code 2",
		"echo one; echo 'smoke test says no' >&2; exit 7": "exit code 7; its last output: smoke test says no",
	} {
		t.Run(run, func(t *testing.T) {
			t.Parallel()
			h := start(t)
			require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, stageScriptRun, with(t, options{Run: run})))
			blocks := h.Piped.Blocks(stageID, true)
			last := blocks[len(blocks)-1]
			require.Equal(t, model.LogSeverity_ERROR, last.GetSeverity())
			require.Contains(t, last.GetLog(), want)
		})
	}
}

func TestAMissingDirectoryIsNamed(t *testing.T) {
	t.Parallel()
	h := start(t)
	request := h.Request(stageScriptRun, with(t, options{Run: "true"}))
	request.Input.TargetDeploymentSource.ApplicationDirectory = filepath.Join(t.TempDir(), "gone")
	resp, err := h.Deployment.ExecuteStage(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, model.StageStatus_STAGE_FAILURE, resp.GetStatus())
	require.Contains(t, h.Piped.Log(stageID), request.Input.TargetDeploymentSource.ApplicationDirectory)
}

// A cancelled stage leaves no process of its script behind, however it behaves.
func TestCancellingEndsTheWholeScript(t *testing.T) {
	t.Parallel()
	for name, run := range map[string]string{
		"a script":                      `echo pid $$; sleep 600`,
		"its background processes":      `sleep 600 >/dev/null 2>&1 & echo pid $!; sleep 600`,
		"one that ignores SIGTERM":      `trap '' TERM; echo pid $$; while :; do sleep 1; done`,
		"children that ignore SIGTERM":  `(trap '' TERM; sleep 600) & echo pid $!; wait`,
		"children that write on and on": `(trap '' TERM; while :; do echo x; done) & echo pid $!; wait`,
		"one that cleans up at SIGTERM": `trap 'echo cleaned; exit 0' TERM; echo pid $$; while :; ` +
			`do sleep 0.01; done`,
		"another session":                  `setsid sh -c 'trap "" TERM; echo pid $$; exec sleep 600' & sleep 600`,
		"a double fork":                    `(setsid nohup sh -c 'echo pid $$; exec sleep 600' 2>&1 &); sleep 600`,
		"one in front of unfinished lines": `printf 'pid %s\nunfinished' $$; sleep 600`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			grace := brief
			if strings.Contains(run, "cleaned") {
				grace = time.Minute
			}
			h := startWith(t, grace)
			ctx, cancel := context.WithCancel(t.Context())
			ended := h.Go(ctx, t, stageScriptRun, with(t, options{Run: run}))
			var pid int
			h.Piped.Wait(t, "the process id", func() bool {
				for line := range strings.Lines(h.Piped.Log(stageID)) {
					if text, ok := strings.CutPrefix(line, "pid "); ok {
						pid, _ = strconv.Atoi(strings.TrimSpace(text))
					}
				}
				return pid > 0
			})
			cancel()
			<-ended
			h.Piped.Wait(t, "the end of the log", func() bool { return h.Piped.Completed(stageID) })
			require.True(t, gone(pid), "a process of the script lives when its log is complete, which a rollback "+
				"waits for")
			require.Contains(t, h.Piped.Log(stageID), "The script was ended")
			require.Contains(t, h.Piped.Log(stageID), "the stage was cancelled")
			if strings.Contains(run, "cleaned") {
				require.Contains(t, h.Piped.Log(stageID), "cleaned\n")
			}
		})
	}
}

// A rollback must not run next to what the failed script left.
func TestAFailedScriptLeavesNoProcessBehind(t *testing.T) {
	t.Parallel()
	h := start(t)
	file := filepath.Join(t.TempDir(), "pid")
	require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, stageScriptRun, with(t, options{
		Run: `(setsid nohup sh -c 'echo $$ > $FILE; exec sleep 600' >/dev/null 2>&1 &); until [ -s $FILE ]; ` +
			`do sleep 0.01; done; exit 3`,
		Env: map[string]string{"FILE": file},
	})))
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	require.NoError(t, err)
	require.True(t, gone(pid))
}

// gone is whether a process has ended; a zombie whose exit code was not read yet has.
func gone(pid int) bool {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return true
	}
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestAProcessLeftBehindDoesNotHoldUpTheStage(t *testing.T) {
	t.Parallel()
	h := startWith(t, brief)
	require.Equal(t, model.StageStatus_STAGE_SUCCESS,
		h.Execute(t, stageScriptRun, with(t, options{Run: `sleep 600 & echo pid $!`})))
	require.Contains(t, h.Piped.Log(stageID), "left processes behind")
	for line := range strings.Lines(h.Piped.Log(stageID)) {
		if text, ok := strings.CutPrefix(line, "pid "); ok {
			pid, err := strconv.Atoi(strings.TrimSpace(text))
			require.NoError(t, err)
			require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		}
	}
}

func TestManyShortLinesAllArrive(t *testing.T) {
	t.Parallel()
	h := start(t)
	const lines = 200_000
	run := `i=0; while [ $i -lt ` + strconv.Itoa(lines) + ` ]; do i=$((i+1)); echo "this is line $i of many"; done`
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, h.Execute(t, stageScriptRun, with(t, options{Run: run})))
	next := 1
	for _, block := range h.Piped.Blocks(stageID, true) {
		for line := range strings.Lines(block.GetLog()) {
			if strings.HasPrefix(line, "this is line ") {
				require.Equal(t, "this is line "+strconv.Itoa(next)+" of many\n", line)
				next++
			}
		}
	}
	require.Equal(t, lines+1, next)
}

func TestARollbackScriptRunsOnlyAfterItsStageStarted(t *testing.T) {
	t.Parallel()
	h := start(t)
	opts := with(t, options{Run: "false", OnRollback: "echo undone $SR_IS_ROLLBACK"})
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, h.Execute(t, stageScriptRunRollback, opts))
	require.Contains(t, h.Piped.Log("script_run_rollback"), "had not been started")
	require.NotContains(t, h.Piped.Log("script_run_rollback"), "undone")

	require.Equal(t, model.StageStatus_STAGE_FAILURE, h.Execute(t, stageScriptRun, opts))
	require.Equal(t, model.StageStatus_STAGE_SUCCESS, h.Execute(t, stageScriptRunRollback, opts))
	require.Contains(t, h.Piped.Log("script_run_rollback"), "undone true\n")
}

func TestBuildAddsRollbackStagesWhereThereIsAScriptForThem(t *testing.T) {
	t.Parallel()
	h := start(t)
	request := &deployment.BuildPipelineSyncStagesRequest{Rollback: true,
		Stages: []*deployment.BuildPipelineSyncStagesRequest_StageConfig{
			{Name: stageScriptRun, Desc: "first", Index: 0, Config: []byte(`{"run":"a","onRollback":"b"}`)},
			{Name: stageScriptRun, Index: 3, Config: []byte(`{"run":"a"}`)},
		}}
	names := func() (names []string) {
		resp, err := h.Deployment.BuildPipelineSyncStages(t.Context(), request)
		require.NoError(t, err)
		for _, stage := range resp.GetStages() {
			names = append(names, stage.GetName()+" "+strconv.Itoa(int(stage.GetIndex()))+" "+stage.GetDesc())
		}
		return names
	}
	require.Equal(t, []string{"SCRIPT_RUN 0 first", "SCRIPT_RUN_ROLLBACK 0 ", "SCRIPT_RUN 3 "}, names())
	request.Rollback = false
	require.Equal(t, []string{"SCRIPT_RUN 0 first", "SCRIPT_RUN 3 "}, names())

	for config, want := range map[string]string{
		`{}`:                            "run is required",
		`{"run":" "}`:                   "run is required",
		`{"run":"a","env":{"A=B":"c"}}`: "not that of an environment variable",
		`{"run":["a"]}`:                 "run must be a string",
	} {
		_, err := h.Deployment.BuildPipelineSyncStages(t.Context(), &deployment.BuildPipelineSyncStagesRequest{
			Stages: []*deployment.BuildPipelineSyncStagesRequest_StageConfig{{Name: stageScriptRun,
				Config: []byte(config)}},
		})
		require.ErrorContains(t, err, want)
	}
}
