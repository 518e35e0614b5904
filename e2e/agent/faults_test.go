// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/piped/failpoint/failpointtest"
)

// Histories of the pipeline A, B as the control plane sees them, and the calls that its plugin gets.
var (
	once  = fate{"A RUNNING 0, A SUCCESS 0, B RUNNING 0, B SUCCESS 0", "A 0, B 0"}
	again = fate{"A RUNNING 0, A RUNNING 1, A SUCCESS 1, B RUNNING 0, B SUCCESS 0", "A 0, A 1, B 0"}
	// late: the first attempt was recorded, but its call was never made.
	late = fate{again.history, "A 1, B 0"}
)

type fate struct{ history, calls string }

// TestKilledProcesses kills each process of a deployment at each moment of its first stage. Whatever is
// killed, the deployment succeeds, no stage whose end was recorded is called again, and no stage is
// called twice in one attempt.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		victim string
		kill   func(*testing.T, *killing)
		// by moment
		before, during, answered, reporting fate
	}{
		// What the plugin answered is lost with the agent, so the stage is run again.
		{"the agent", killAgent, late, again, again, again},
		// Its answer is kept; the next stage waits until the plugin is back.
		{"the plugin", killPlugin, once, again, once, once},
		// Reports wait for it.
		{"the control plane", killControlPlane, once, once, once, once},
	} {
		for _, m := range []struct {
			moment, point string
			want          fate
		}{
			{"before the stage call", "stage-call", c.before},
			{"during the stage call", "", c.during},
			{"after its answer", "stage-answer", c.answered},
			{"before the report", "stage-report", c.reporting},
		} {
			t.Run(c.victim+" "+m.moment, func(t *testing.T) {
				t.Parallel()
				k := startKilling(t, m.point)
				c.kill(t, k)
				end := k.environment.deck.awaitEnd(t, 0)
				require.Equal(
					t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, end.GetStatus(), end.GetStatusReason(),
				)
				require.Equal(t, m.want.history, strings.Join(k.environment.deck.historyOf(end), ", "))
				calls, err := os.ReadFile(k.calls)
				require.NoError(t, err)
				require.Equal(
					t, m.want.calls, strings.Join(strings.Split(strings.TrimSpace(string(calls)), "\n"), ", "),
				)
			})
		}
	}
}

// killing is a deployment whose first stage is held at the moment in question.
type killing struct {
	environment *environment
	piped       *pipedProcess
	front       *front
	// gate holds; report holds later, once the stage has been answered, and is nil at the last moment.
	gate, report *failpointtest.Gate
	// calls is the file with the calls that the plugin got.
	calls string
}

func startKilling(t *testing.T, point string) *killing {
	t.Helper()
	k := &killing{gate: failpointtest.NewGate(t), calls: filepath.Join(t.TempDir(), "calls")}
	a := fmt.Sprintf("{calls: %q}", k.calls)
	b := a
	var points []string
	if point == "" {
		a = fmt.Sprintf("{calls: %q, do: hold-once, file: %q}", k.calls, k.gate.Path)
	} else {
		points = append(points, fmt.Sprintf("%s=1*hold(%s)", point, k.gate.Path))
	}
	if point != "stage-report" {
		k.report = failpointtest.NewGate(t)
		points = append(points, fmt.Sprintf("stage-report=1*hold(%s)", k.report.Path))
	}
	k.environment = newEnvironment(t, pipeline(a, b))
	k.front = newFront(t, k.environment)
	k.piped = k.environment.startWith(t, strings.Join(points, ";"), "--log-level", "debug")
	k.gate.Await(t)
	return k
}

// letReport lets the report of the stage go, if it is not what was held first.
func (k *killing) letReport(t *testing.T) {
	t.Helper()
	if k.report != nil {
		k.report.Await(t)
		k.report.Open()
	}
}

func killAgent(t *testing.T, k *killing) { kill9(t, k.environment, k.piped) }

func killPlugin(t *testing.T, k *killing) {
	before := k.environment.deck.pluginPID()
	require.NoError(t, syscall.Kill(before, syscall.SIGKILL))
	k.environment.deck.awaitPlugin(t, "another plugin process", func(p *deckv1.Plugin) bool {
		return int(p.GetPid()) != before && p.GetState() == deckv1.Plugin_STATE_RUNNING
	})
	k.gate.Open()
	k.letReport(t)
}

// killControlPlane leaves it away until the stage has ended, and then until a report has failed.
func killControlPlane(t *testing.T, k *killing) {
	k.front.kill()
	k.gate.Open()
	k.letReport(t)
	failed := "call=ReportStageStatusChanged"
	require.Eventually(
		t, func() bool { return strings.Contains(k.piped.output.String(), failed) }, wait, time.Millisecond,
	)
	k.front.back(t)
}

// kill9 kills the agent and its plugins and starts another one.
func kill9(t *testing.T, e *environment, p *pipedProcess) {
	t.Helper()
	plugin := e.deck.pluginPID()
	require.NoError(t, p.Process.Kill())
	p.exit(t)
	require.Eventually(
		t, func() bool { return syscall.Kill(plugin, 0) == syscall.ESRCH }, wait, time.Millisecond,
		"the plugin ends with piped",
	)
	e.start(t)
}

func TestStagesSideBySideOutlastTheAgentEachInItsState(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	e := newEnvironment(t, fmt.Sprintf(`apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: app
  pipeline:
    stages:
      - {id: a, name: A, with: {do: hold-once, file: %q}}
      - {id: b, name: B, needs: []}
      - {name: A, needs: [b]}
      - {name: B, needs: [a, b]}
`, gate.Path))
	p := e.start(t)
	gate.Await(t)
	e.deck.awaitStage(t, 2, deckv1.StageStatus_STAGE_STATUS_SUCCESS)
	kill9(t, e, p)
	end := e.deck.awaitEnd(t, 0)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, end.GetStatus(), end.GetStatusReason())
	var retries []int32
	for _, stage := range end.GetStages()[:4] {
		retries = append(retries, stage.GetRetries())
	}
	require.Equal(t, []int32{1, 0, 0, 0}, retries, "only what was running is run again")
}

func TestARollbackOutlastsTheAgentAndKeepsTheFirstReason(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	e := newEnvironment(t, pipeline(fmt.Sprintf("{do: error, undo: hold-once, undoFile: %q}", gate.Path)))
	p := e.start(t)
	gate.Await(t)
	kill9(t, e, p)
	end := e.deck.awaitEnd(t, 0)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, end.GetStatus())
	require.Equal(t, "Stage A failed: the moon is missing", end.GetStatusReason())
	require.Equal(
		t, "A RUNNING 0, A FAILURE 0, ROLLBACK RUNNING 0, ROLLBACK RUNNING 1, ROLLBACK SUCCESS 1",
		strings.Join(e.deck.historyOf(end), ", "),
	)
}
