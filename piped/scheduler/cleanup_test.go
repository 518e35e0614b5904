// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package scheduler_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/piped/scheduler"
)

// await waits for a file that a stage makes.
func awaitFile(t *testing.T, path string) {
	t.Helper()
	require.Eventually(t, func() bool { _, err := os.Stat(path); return err == nil }, time.Minute, time.Millisecond)
}

func TestAStageThatDoesNotStopEndsBeforeTheRollback(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stages []string // the first gets the file of its start
		cancel bool
		want   string
	}{
		"when it was cancelled": {
			[]string{"with: {do: ignore, file: %q}"}, true, "Cancelled by carol while executing stage A",
		},
		"when its time ran out": {
			[]string{"timeout: 3s, with: {do: ignore, file: %q}"}, false,
			"Stage A failed: the stage timed out after 3s",
		},
		"when one that runs at the same time fails": {
			[]string{"needs: [], with: {do: ignore, file: %q}", "needs: [], with: {do: await, file: %q, then: error}"},
			false, "Stage B failed: the moon is missing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			begun := filepath.Join(t.TempDir(), "begun")
			for i := range c.stages {
				c.stages[i] = fmt.Sprintf(c.stages[i], begun)
			}
			a := startAgentAt(
				t, startControlPlane(t), pipeline(c.stages...),
				func(o *scheduler.Options) { o.CleanupWait = 100 * time.Millisecond },
			)
			a.Submit(newDeployment("d", "app"))
			awaitFile(t, begun)
			pid := int(a.host.Status()[0].GetPid())
			if c.cancel {
				a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c", "d")})
			}
			a.controlPlane.awaitCall(t, "Status ROLLING_BACK")
			require.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH)
			require.Equal(t, c.want, a.controlPlane.awaitEnd(t, "d").GetStatusReason())
			require.Contains(t, a.controlPlane.recorded(), "Stage ROLLBACK SUCCESS 0")

			log := strings.Join(a.controlPlane.atRollback, "\n")
			require.Contains(
				t,
				log,
				"A 0 The process of the plugin was ended, because stage A went on for 100ms after it was stopped. It "+
					"was here:\n",
			)
			require.Contains(t, log, "main.workOn")
			status := a.host.Status()[0]
			require.Equal(t, agentv1.Plugin_STATE_RUNNING, status.GetState())
			require.Contains(t, status.GetDetail(), fmt.Sprintf("process %d was ended at ", pid))
			require.Contains(t, status.GetDetail(), "stage A went on for 100ms after it was stopped")
		})
	}
}

func TestStagesAlongsideOneThatDoesNotStopAreRunAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bystander := filepath.Join(dir, "bystander")
	specs := map[string]string{
		"innocent": pipeline(fmt.Sprintf("with: {do: block-once, times: 4, file: %q}", bystander)),
	}
	deaf := []string{"first", "second", "third", "fourth"} // more often than an input may end the process of a plugin
	for _, name := range deaf {
		specs[name] = pipeline(fmt.Sprintf("with: {do: ignore, file: %q}", filepath.Join(dir, name)))
	}
	a := startAgentEach(t, specs, func(o *scheduler.Options) { o.CleanupWait = 100 * time.Millisecond })
	a.Submit(newDeployment("d", "innocent"))
	for _, name := range deaf {
		awaitFile(t, bystander)
		require.NoError(t, os.Remove(bystander))
		a.Submit(newDeployment(name, name))
		awaitFile(t, filepath.Join(dir, name))
		a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c-"+name, name)})
		a.controlPlane.awaitEnd(t, name)
	}
	require.Equal(t, model.DeploymentStatus_DEPLOYMENT_SUCCESS, a.controlPlane.awaitEnd(t, "d").GetStatus())
	require.Equal(t, int32(4), a.controlPlane.report("A").GetRetriedCount())
	require.Contains(t, a.controlPlane.stageLog(), "the stage is run again once the plugin is back")
}

func TestAProcessThatPipedEndsIsNoCrashOfItsPlugin(t *testing.T) {
	t.Parallel()
	begun := filepath.Join(t.TempDir(), "begun")
	a := startAgentAt(
		t, startControlPlane(t), pipeline(fmt.Sprintf("with: {do: ignore, file: %q}", begun)),
		func(o *scheduler.Options) { o.CleanupWait = time.Millisecond },
	)
	for i := range 6 { // five crashes within a minute end in quarantine
		id := fmt.Sprint("d", i)
		a.Submit(newDeployment(id, "app"))
		awaitFile(t, begun)
		require.NoError(t, os.Remove(begun))
		a.HandleCommands(t.Context(), []*model.Command{cancelCommand("c"+id, id)})
		a.controlPlane.awaitEnd(t, id)
	}
	require.Equal(t, agentv1.Plugin_STATE_RUNNING, a.host.Status()[0].GetState())
}
