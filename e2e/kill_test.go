// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAPluginKilledInTheMiddleOfAStageIsStartedAgainAndTheStageGoesOn(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{
		"slow/app.pipecd.yaml": application("slow", pipeline("WAIT", "duration: 4s")),
	})
	s := e.start("up", repo, "--cluster", "none")
	s.await("the stage runs", func(e event) bool { return e.is("stage", "name", "WAIT", "status", "RUNNING") })
	require.NoError(t, syscall.Kill(e.pluginPID("wait"), syscall.SIGKILL))
	s.await("the plugin is down", func(e event) bool { return e.is("plugin", "name", "wait", "state", "RESTARTING") })
	s.await("the deployment succeeds all the same",
		func(e event) bool { return e.is("deployment", "app", "slow", "status", "SUCCESS") })
	require.NotZero(t, e.pluginPID("wait"))
}

func TestAKilledPipedIsStartedAgainAndFinishesTheDeployment(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{
		"slow/app.pipecd.yaml": application("slow", pipeline("WAIT", "duration: 4s")),
	})
	s := e.start("up", repo, "--cluster", "none")
	s.await("the stage runs", func(e event) bool { return e.is("stage", "name", "WAIT", "status", "RUNNING") })
	before := e.pluginPID("wait")
	require.NoError(t, syscall.Kill(e.child("piped"), syscall.SIGKILL))
	s.await("the deployment succeeds all the same",
		func(e event) bool { return e.is("deployment", "app", "slow", "status", "SUCCESS") })
	require.NotEqual(t, before, e.pluginPID("wait"), "plugins die with their agent")
	waitUntil(t, "the old plugin is gone", func() bool { return !alive(before) })
	require.Len(t, e.list("deployments"), 1, "the commit was not deployed twice")
}

func TestAKilledPipedeckIsTakenOverByTheNext(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.start("up", "--sample", "hello-world", "--cluster", "embedded")
	s.await("hello-world is deployed", func(e event) bool {
		return e.is("deployment", "app", "hello-world", "status",
			"SUCCESS")
	})
	require.NoError(t, s.cmd.Process.Kill())
	s.wait()

	again := e.start("up", "--sample", "hello-world", "--cluster", "embedded")
	said := again.await("it says what it did", func(e event) bool {
		detail, _ := e["detail"].(string)
		return e.is("component", "name", "control plane", "state", "READY") && strings.Contains(detail, "took over")
	})
	require.Contains(t, said["detail"], "killed")
	again.await("what was deployed is known", func(e event) bool {
		return e.is("deployment", "app", "hello-world",
			"status", "SUCCESS")
	})
	again.await("the cluster is there", func(e event) bool {
		return e.is("component", "name", "kubernetes", "state",
			"READY")
	})
	again.await("the plugins are there", func(e event) bool {
		return e.is("plugin", "name", "kubernetes", "state",
			"RUNNING")
	})
	require.Len(t, e.list("deployments"), 2, "the commit was not deployed twice to the two applications")
	require.Zero(t, e.pipedeck("down").Code)
	_, code := again.wait()
	require.Zero(t, code, "it was asked to end by another")
	e.leavesNothing()
}

func TestTheNextPipedeckGoesOnWithWhatAKilledOneWasDoing(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{
		"slow/app.pipecd.yaml": application("slow", pipeline("WAIT", "duration: 4s")),
	})
	s := e.start("up", repo, "--cluster", "none")
	began := s.await("the stage runs", func(e event) bool { return e.is("stage", "name", "WAIT", "status", "RUNNING") })
	require.NoError(t, s.cmd.Process.Kill())
	s.wait()

	again := e.start("up", repo, "--cluster", "none")
	ended := again.await("the deployment succeeds",
		func(e event) bool { return e.is("deployment", "app", "slow", "status", "SUCCESS") })
	require.Equal(t, began["deployment"], ended["id"])
	require.Len(t, e.list("deployments"), 1, "the commit was not deployed twice")
	require.Zero(t, e.pipedeck("down").Code)
	again.wait()
	e.leavesNothing()
}

func TestTheUIMayBeKilledWithoutHarm(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	ui := openTerminal(t, e.command("up", "--sample", "hello-world", "--cluster", "embedded"), 100, 30)
	e.awaitDeployment("hello-world", "SUCCESS")
	require.NoError(t, ui.cmd.Process.Kill())
	ui.wait()
	require.True(t, e.running())
	require.Zero(t, e.pipedeck("down").Code)
	e.leavesNothing()
}

func TestAUIOffersToStartAKilledEnvironmentAgainAndAReaderEndsWithAnError(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{"note/app.pipecd.yaml": application("note",
		"  pipeline:\n    stages:\n      - name: WAIT\n        with:\n          duration: 1s\n")})
	first := openTerminal(t, e.command("up", repo, "--cluster", "none"), 100, 30)
	e.awaitDeployment("note", "SUCCESS")
	attached := openTerminal(t, e.command("attach"), 100, 30)
	attached.sees("note")
	reader := e.start("attach")
	reader.await("it follows the environment", func(e event) bool { return e.is("application", "name", "note") })

	e.kill()

	attached.sees("The environment has stopped")
	_, code := reader.wait()
	require.Equal(t, 3, code)
	first.sees("The environment has stopped")
	first.presses("4z")
	first.sees("last output")
	first.presses("u")
	attached.sees("note")
	require.Eventually(t, e.running, time.Minute, 50*time.Millisecond)
	attached.loses("has stopped")
	first.loses("has stopped|starting again")
	first.sees("(?s)parts, \\d plugins ready.*last output")
	attached.presses("q")
	attached.sees("tear it down")
	attached.presses("t")
	attached.sees("type its name")
	attached.presses("story\r")
	require.Zero(t, attached.wait())
	require.Zero(t, first.wait())
	e.leavesNothing()
}

// kill kills the process of the environment.
func (e *environment) kill() {
	e.t.Helper()
	data, err := os.ReadFile(e.Dir("running.json"))
	require.NoError(e.t, err)
	var running struct{ PID int }
	require.NoError(e.t, json.Unmarshal(data, &running))
	require.NoError(e.t, syscall.Kill(running.PID, syscall.SIGKILL))
}

// alive reports whether a process runs; one that only waits to be collected does not.
func alive(pid int) bool {
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && len(state) > 0 && state[0] != 'Z'
}

// child is the process id of one of the environment's children.
func (e *environment) child(name string) int {
	e.t.Helper()
	data, err := os.ReadFile(e.Dir("running.json"))
	require.NoError(e.t, err)
	var running struct {
		Processes map[string]struct{ PID int }
	}
	require.NoError(e.t, json.Unmarshal(data, &running))
	require.NotZero(e.t, running.Processes[name].PID, "%s in %s", name, data)
	return running.Processes[name].PID
}

func (e *environment) pluginPID(name string) int {
	e.t.Helper()
	for _, p := range e.list("plugins") {
		if p["name"] == name {
			return int(p["pid"].(float64))
		}
	}
	e.t.Fatalf("no plugin %s", name)
	return 0
}
