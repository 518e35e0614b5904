// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/api/controlplane/apiservice"
	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/controlplane/client"
	"github.com/pipedeck/pipedeck/piped/failpoint/failpointtest"
)

// noticed bounds the time from a cause to its problem. 15 s are promised; a busy machine gets more.
const noticed = 15 * time.Second

// awaitProblem waits until a part has a problem with these words in its reason or next step, and returns it.
func (d *deck) awaitProblem(t *testing.T, part, words string) (found *deckv1.Problem) {
	t.Helper()
	began := time.Now()
	d.awaitAll(t, "a problem of "+part+" with "+words, func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		for _, p := range d.problems {
			if p.GetPart() == part && strings.Contains(p.GetReason()+"\n"+p.GetNextStep(), words) {
				found = p
				return true
			}
		}
		return false
	})
	require.NotEmpty(t, found.GetNextStep())
	require.NotNil(t, found.GetSince())
	if took := time.Since(began); took > noticed {
		t.Logf("the problem of %s was noticed after %s", part, took)
	}
	return found
}

func (d *deck) awaitNoProblem(t *testing.T) {
	t.Helper()
	d.awaitAll(t, "the end of all problems", func() bool {
		d.mu.Lock()
		defer d.mu.Unlock()
		return len(d.problems) == 0
	})
}

func TestAKeyThatNothingReadsIsAProblemOfItsApplicationUntilItIsFixed(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	e.start(t)
	e.deck.awaitEnd(t, 0)
	e.commit(t, "Misspell the labels", pipeline("{}")+"  lables: {a: b}\n")
	d := e.deck.awaitEnd(t, 1)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, d.GetStatus(), "as PipeCD does")
	p := e.deck.awaitProblem(t, "configuration of app", `unknown key "lables" is not read; did you mean "labels"?`)
	require.Regexp(t, `^app/app\.pipecd\.yaml:\d+:3: spec\.lables: `, p.GetReason())
	require.Equal(t, d.GetApplicationId(), p.GetApplicationId())
	require.Empty(t, p.GetComponent(), "piped works as it should")
	e.commit(t, "Fix it", pipeline("{}"))
	e.deck.awaitNoProblem(t)
}

func TestAConfigurationThatCannotBeUsedIsAProblemOfItsApplicationUntilItIsFixed(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	piped := e.start(t)
	d := e.deck.awaitEnd(t, 0)

	e.commit(t, "Break it", pipeline("{}")+"  labels: [\n")
	p := e.deck.awaitProblem(t, "configuration of app", "correct the file and commit it")
	require.Regexp(t, `^app/app\.pipecd\.yaml:\d+:\d+: `, p.GetReason())
	require.Equal(t, d.GetApplicationId(), p.GetApplicationId())
	status, _ := piped.admin(t, "/healthz")
	require.Equal(t, 503, status)
	_, metrics := piped.admin(t, "/metrics")
	require.Regexp(t, `piped_degraded\{[^}]*part="configuration of app"[^}]*\} 1`, metrics)
	e.git(t, "revert", "--no-edit", "HEAD")
	e.deck.awaitNoProblem(t)

	e.git(t, "rm", "-q", "app/app.pipecd.yaml")
	e.git(t, "commit", "-q", "-m", "Remove it")
	p = e.deck.awaitProblem(t, "configuration of app", "app/app.pipecd.yaml is not in Git any more, at commit ")
	require.Contains(t, p.GetNextStep(), "add the file again, or remove the application with: pipedeck remove app")
	e.git(t, "revert", "--no-edit", "HEAD")
	e.deck.awaitNoProblem(t)
}

func TestANewApplicationWithoutANameIsAProblemOfItsRepositoryUntilItHasOne(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	e.start(t)
	e.deck.awaitEnd(t, 0)
	e.commitAll(t, "Add another", map[string]string{"new": strings.Replace(pipeline("{}"), "  name: app\n", "", 1)})
	p := e.deck.awaitProblem(t, "configuration of new/app.pipecd.yaml in repository local", "spec.name: is missing")
	require.Regexp(t, `^new/app\.pipecd\.yaml:\d+:\d+: `, p.GetReason())
	require.Contains(t, p.GetNextStep(), "pipedeck validate new/app.pipecd.yaml")
	require.Empty(t, p.GetComponent(), "piped works as it should")
	e.commitAll(t, "Name it", map[string]string{"new": strings.Replace(pipeline("{}"), "name: app", "name: new", 1)})
	e.deck.awaitNoProblem(t)
	e.deck.awaitEnd(t, 1)
}

func TestARetryThatFailsDoesNotHideABrokenConfiguration(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{do: fail}"))
	e.reconfigure(t, "plugins:", "syncInterval: 10m\n  plugins:") // the trigger does not look by itself
	e.start(t)
	failed := e.deck.awaitEnd(t, 0)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, failed.GetStatus())
	e.commit(t, "Break it", pipeline("{do: fail}")+"  timeout: soon\n")
	e.deck.awaitProblem(t, "configuration of app", "spec.timeout")

	_, err := e.user(t).RetryDeployment(t.Context(), &deckv1.RetryDeploymentRequest{DeploymentId: failed.GetId()})
	require.NoError(t, err)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, e.deck.awaitEnd(t, 1).GetStatus())
	e.deck.awaitAll(t, "the state of the application after the retry", func() bool {
		e.deck.mu.Lock()
		defer e.deck.mu.Unlock()
		app := e.deck.apps[failed.GetApplicationId()]
		return app.GetSync() == deckv1.SyncStatus_SYNC_STATUS_INVALID_CONFIG && !app.GetDeploying()
	})
	e.deck.awaitProblem(t, "configuration of app", "spec.timeout")
}

func TestAStageThatNoPluginHasReplacesTheMistakeThatWasCorrectedWithIt(t *testing.T) {
	t.Parallel()
	waits := func(stages string) string {
		return "apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: app\n  pipeline:\n    stages:\n" +
			"      - " + stages + "\n"
	}
	e := newEnvironment(t, waits("{name: WAIT, with: {duratoin: 3s}}"))
	e.reconfigure(t, "plugins:", "plugins:\n    - {name: wait, url: \"file://"+bundled["wait"]+"\", port: 0}")
	e.start(t)
	e.deck.awaitProblem(t, "configuration of app", `unknown key "duratoin"`)
	e.commit(t, "Fix it, with a stage that is not there", waits("{name: WAIT, with: {duration: 1ms}}\n"+
		"      - {name: K8S_CANARY_ROLLOUT}"))
	p := e.deck.awaitProblem(t, "configuration of app", `"K8S_CANARY_ROLLOUT"`)
	require.NotContains(t, p.GetReason(), "duratoin")
	require.Contains(t, p.GetReason(), "app/app.pipecd.yaml:")
	e.commit(t, "Fix it", waits("{name: WAIT, with: {duration: 1ms}}"))
	e.deck.awaitNoProblem(t)
}

func TestARepositoryThatIsGoneIsAProblemUntilItIsBack(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	e.start(t)
	e.deck.awaitEnd(t, 0)
	aside := filepath.Join(e.dir, "aside")
	dotGit := filepath.Join(e.repository, ".git")

	require.NoError(t, os.Rename(e.repository, aside))
	p := e.deck.awaitProblem(t, "repository local", "there is no such directory")
	require.Contains(t, p.GetNextStep(), "move or clone the repository to "+e.repository)
	require.NoError(t, os.Rename(aside, e.repository))
	e.deck.awaitNoProblem(t)

	require.NoError(t, os.Rename(dotGit, aside))
	e.deck.awaitProblem(t, "repository local", "not a Git repository")
	require.NoError(t, os.Rename(aside, dotGit))
	e.deck.awaitNoProblem(t)

	e.git(t, "branch", "-m", "main", "other")
	p = e.deck.awaitProblem(t, "repository local", "main is missing, there is other") // once Git has renamed it
	require.Contains(t, p.GetReason(), "no such branch")
	e.git(t, "branch", "-m", "other", "main")
	e.deck.awaitNoProblem(t)

	e.commit(t, "goes on", pipeline("{}", "{}"))
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, e.deck.awaitEnd(t, 1).GetStatus())
}

func TestARepositoryWhoseParentWasMovedIsAProblem(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	above := filepath.Join(e.dir, "above")
	require.NoError(t, os.Mkdir(above, 0o755))
	moved := filepath.Join(above, "repository")
	require.NoError(t, os.Rename(e.repository, moved))
	e.reconfigure(t, "file://"+e.repository+"\"", "file://"+moved+"\"")
	e.start(t)
	e.deck.awaitEnd(t, 0)
	require.NoError(t, os.Rename(above, above+"2"), "which the system reports to no watcher of the repository")
	e.deck.awaitProblem(t, "repository local", "there is no such directory")
	require.NoError(t, os.Rename(above+"2", above))
	e.deck.awaitNoProblem(t)
}

func TestAPipedThatHangsIsAProblemUntilItGoesOn(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	p := e.start(t)
	e.deck.awaitEnd(t, 0)
	e.deck.awaitNoProblem(t)
	require.NoError(t, p.Process.Signal(syscall.SIGSTOP))
	e.deck.awaitProblem(t, "piped", "no call from it since")
	require.NoError(t, p.Process.Signal(syscall.SIGCONT))
	e.deck.awaitNoProblem(t)
}

func TestARefusedPipedIsAProblemUntilItIsLetIn(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	e.start(t)
	e.deck.awaitEnd(t, 0)
	conn, err := client.Dial(e.address, apiKey)
	require.NoError(t, err)
	defer conn.Close()
	api := apiservice.NewAPIServiceClient(conn)
	_, err = api.DisablePiped(t.Context(), &apiservice.DisablePipedRequest{PipedId: "piped"})
	require.NoError(t, err)
	problem := e.deck.awaitProblem(t, "piped", "disabled in the control plane")
	require.Contains(t, problem.GetNextStep(), "pipectl piped enable")
	_, err = api.EnablePiped(t.Context(), &apiservice.EnablePipedRequest{PipedId: "piped"})
	require.NoError(t, err)
	e.deck.awaitNoProblem(t)
}

func TestAPluginThatKeepsEndingIsAProblemUntilItIsFixed(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{}"))
	program := filepath.Join(e.dir, "program")
	install := func(content []byte) {
		require.NoError(t, os.WriteFile(program+".new", content, 0o755))
		require.NoError(t, os.Rename(program+".new", program))
	}
	good, err := os.ReadFile(pluginBinary)
	require.NoError(t, err)
	install(good)
	e.reconfigure(t, "file://"+pluginBinary, "file://"+program)
	p := e.start(t)
	e.deck.awaitEnd(t, 0)

	install([]byte("#!/bin/sh\necho broken >&2\nexit 3\n"))
	e.deck.awaitProblem(t, "plugin p", "its changed program does not start")
	status, _ := p.admin(t, "/healthz")
	require.Equal(t, 503, status, "/healthz reads the same registry")
	_, metrics := p.admin(t, "/metrics")
	require.Regexp(t, `piped_degraded\{[^}]*part="plugin p"[^}]*\} 1`, metrics)

	require.NoError(t, syscall.Kill(e.deck.pluginPID(), syscall.SIGKILL))
	problem := e.deck.awaitProblem(t, "plugin p", "quarantined")
	require.Contains(t, problem.GetNextStep(), "pipedeck restart p")
	install(good)
	e.deck.awaitNoProblem(t)
	require.Eventually(
		t, func() bool { status, _ := p.admin(t, "/healthz"); return status == 200 }, wait, 10*time.Millisecond,
	)
}

func TestAnInputThatEndsItsPluginIsAProblemUntilItIsChanged(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t, pipeline("{do: crash}"))
	e.start(t)
	first := e.deck.awaitEnd(t, 0) // it has run the stage twice
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, first.GetStatus())
	_, err := e.user(t).SyncApplication(
		t.Context(), &deckv1.SyncApplicationRequest{ApplicationId: first.GetApplicationId(), Strategy: "PIPELINE"},
	)
	require.NoError(t, err)
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, e.deck.awaitEnd(t, 1).GetStatus())
	problem := e.deck.awaitProblem(t, "plugin p (stage A of the application app)", "ended 3 times during it")
	require.Contains(t, problem.GetNextStep(), "pipedeck restart p")
	e.commit(t, "fix it", pipeline("{}"))
	require.Equal(t, deckv1.DeploymentStatus_DEPLOYMENT_STATUS_SUCCESS, e.deck.awaitEnd(t, 2).GetStatus())
	e.deck.awaitNoProblem(t)
}

func TestAListThatIsTooLongIsAProblem(t *testing.T) {
	t.Parallel()
	gate := failpointtest.NewGate(t)
	e := newEnvironment(t, pipeline("{do: hold-once, file: \""+gate.Path+"\"}"))
	e.git(t, "commit", "-q", "--amend", "-m", strings.Repeat("x", 40_000))
	p := e.start(t)
	gate.Await(t)
	require.NoError(t, p.Process.Kill())
	p.exit(t)
	p = e.start(t, "--max-recv-msg-size", "20000")
	problem := e.deck.awaitProblem(t, "list of deployments", "larger than max")
	require.Contains(t, problem.GetNextStep(), "--max-recv-msg-size")
	require.NoError(t, p.Process.Kill())
	p.exit(t)
	gate.Open()
	e.start(t)
	e.deck.awaitNoProblem(t)
	e.deck.awaitEnd(t, 0)
}
