// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/gittest"
)

// gatedHook is a Job with the program of the migrations. It notes in the file runs that it began, and ends when the
// file proceed is there.
type gatedHook struct{ name, runs, proceed string }

func newGatedHook(t *testing.T, name string) gatedHook {
	t.Helper()
	return gatedHook{name, filepath.Join(t.TempDir(), "runs"), filepath.Join(t.TempDir(), "go")}
}

func (h gatedHook) manifest(moment string) string {
	return `apiVersion: batch/v1
kind: Job
metadata:
  name: ` + h.name + `
  annotations: {helm.sh/hook: ` + moment + `}
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      containers:
        - name: main
          image: pipedeck.dev/web:v1
          args: [migrate]
          env: [{name: RUNS, value: ` + h.runs + `}, {name: GO, value: ` + h.proceed + `}]
`
}

func (h gatedHook) open(t *testing.T) {
	t.Helper()
	require.NoError(t, os.WriteFile(h.proceed, nil, 0o600))
}

// ranOnce requires that the hook has begun once.
func (h gatedHook) ranOnce(t *testing.T) {
	t.Helper()
	began, err := os.ReadFile(h.runs)
	require.NoError(t, err)
	require.Equal(t, "began\n", string(began), "%s ran once", h.name)
}

// nth matches the event that is the nth to match, counted from 1.
func nth(n int, match func(event) bool) func(event) bool {
	return func(e event) bool {
		if match(e) {
			n--
		}
		return n == 0
	}
}

func TestARemovalRunsEachHookOnceAlthoughThePluginAndPipedAreKilled(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	before, after := newGatedHook(t, "save"), newGatedHook(t, "farewell")
	repo := repository(t, map[string]string{
		"go.mod": "module sample\n\ngo 1.26\n", "web/main.go": migrator,
		"web/app.pipecd.yaml": application("web", "  onRemoved: prune\n"),
		"web/deployment.yaml": deployment("web"),
		"web/save.yaml":       before.manifest("pre-delete"), "web/farewell.yaml": after.manifest("post-delete"),
		"db/app.pipecd.yaml": application("db", ""), "db/deployment.yaml": simulated("db"),
	})
	s := e.start("up", repo, "--cluster", "embedded")
	for _, app := range []string{"web", "db"} {
		s.await(app+" is healthy", func(e event) bool {
			return e.is("application", "name", app, "sync", "SYNCED", "health", "HEALTHY")
		})
	}
	gittest.Run(t, repo, "rm", "-rq", "web")
	gittest.Commit(t, repo, "delete")

	const goesOn = "an earlier attempt in this deployment has begun it"
	s.await("the hook before the deletion runs", logged(" | applying 0042_orders.sql"))
	require.NoError(t, syscall.Kill(e.pluginPID("kubernetes"), syscall.SIGKILL))
	s.await("the next attempt waits for the hook", nth(1, logged("Job default/save: "+goesOn)))
	require.NoError(t, syscall.Kill(e.child("piped"), syscall.SIGKILL))
	s.await("the attempt after that, too", nth(2, logged("Job default/save: "+goesOn)))
	require.Contains(t, e.pipedeck("tree", "web").Stdout, "Deployment web", "the hook has not ended")
	before.open(t)

	s.await("everything is deleted", logged("Deployment default/web: deleted"))
	s.await("the hook after the deletion runs", logged("Running 1 hook after the deletion: Job farewell"))
	s.await("its output", func(e event) bool {
		return strings.HasPrefix(textOf(e), "farewell-") && logged(" | applying 0042_orders.sql")(e)
	})
	require.NoError(t, syscall.Kill(e.child("piped"), syscall.SIGKILL))
	s.await("the next attempt waits for the hook", logged("Job default/farewell: "+goesOn))
	after.open(t)
	s.await("the removal ends", logged("Removed the application: "))
	waitUntil(t, "web to be gone", func() bool { return len(e.list("apps")) == 1 })
	before.ranOnce(t)
	after.ranOnce(t)
	history := e.pipedeck("history", "web")
	require.Zero(t, history.Code, history.Stderr)
	require.Equal(t, 2, strings.Count(history.Stdout, "SUCCESS"), "deployed, and removed:\n"+history.Stdout)
	removal := e.list("deployments")[0]
	require.Equal(t, "web", removal["app"])
	require.Contains(t, e.pipedeck("logs", removal["id"].(string)).Stdout, "Removed the application: ")
	require.Contains(t, e.pipedeck("tree", "db").Stdout, "Deployment db")
	s.await("nothing else is deleted", func(e event) bool {
		return e.is("application", "name", "db", "sync", "SYNCED", "health", "HEALTHY")
	})
	s.interrupt()
	events, _ := s.wait()
	for _, e := range events {
		require.False(t, logged("default/db: deleted")(e), "%v", e)
		require.False(t, strings.Contains(textOf(e), "kept"), "%v", e)
	}
}

func textOf(e event) string {
	text, _ := e["text"].(string)
	return text
}

// failingHook is a hook before the deletion whose pod never ends.
func failingHook(t *testing.T) string {
	t.Helper()
	return strings.NewReplacer("pipedeck.dev/web:v1", "example.com/web:v1", "backoffLimit: 0", "backoffLimit: 0\n"+
		"  activeDeadlineSeconds: 1", "  template:\n", "  template:\n    metadata: {annotations: "+
		"{pipedeck.dev/simulate: never-ready}}\n").Replace(newGatedHook(t, "save").manifest("pre-delete"))
}

func TestCIRunsTheHooksOfWhatItRemoves(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	working := strings.Replace(newGatedHook(t, "farewell").manifest("post-delete"), "pipedeck.dev/web:v1",
		"example.com/web:v1", 1)
	repo := repository(t, map[string]string{
		"old/app.pipecd.yaml": application("old", ""), "old/deployment.yaml": simulated("old"),
		"old/farewell.yaml":   working,
		"bad/app.pipecd.yaml": application("bad", ""), "bad/deployment.yaml": simulated("bad"),
		"bad/save.yaml":        failingHook(t),
		"stay/app.pipecd.yaml": application("stay", ""), "stay/deployment.yaml": simulated("stay"),
	})
	gittest.Run(t, repo, "rm", "-rq", "old", "bad")
	gittest.Commit(t, repo, "delete")
	out := filepath.Join(t.TempDir(), "report.json")
	r := e.pipedeck("ci", repo, "--from", "HEAD~1", "--report", out)
	require.Equal(t, 1, r.Code, r.Stdout+r.Stderr)
	require.Contains(t, r.Stdout, "Running 1 hook after the deletion: Job farewell")
	require.Contains(t, r.Stdout, "a hook before the deletion failed, so nothing was deleted: Job default/save")
	require.NotContains(t, r.Stdout, "Deployment default/bad: deleted")
	results := readReport(t, out).results()
	require.Equal(t, "REMOVED", results["old"])
	require.Contains(t, results["bad"], "FAILURE")
	e.leavesNothing()
}

func TestAFailedHookBeforeADeletionKeepsTheApplication(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	hook := failingHook(t)
	repo := repository(t, map[string]string{
		"web/app.pipecd.yaml": application("web", ""), "web/deployment.yaml": simulated("web"), "web/save.yaml": hook,
		"db/app.pipecd.yaml": application("db", ""), "db/deployment.yaml": simulated("db"),
	})
	s := e.start("up", repo)
	s.await("web is healthy", func(e event) bool {
		return e.is("application", "name", "web", "sync", "SYNCED", "health", "HEALTHY")
	})
	gittest.Run(t, repo, "rm", "-rq", "web")
	gittest.Commit(t, repo, "delete")
	s.await("web is orphaned", func(e event) bool { return e.is("application", "name", "web", "sync", "ORPHANED") })
	require.Zero(t, e.pipedeck("remove", "web", "--cascade").Code)
	failed := s.await("the removal fails", func(ev event) bool {
		reason, _ := ev["reason"].(string)
		return ev.is("deployment", "app", "web", "status", "FAILURE") && strings.Contains(reason, "Job default/save")
	})
	require.Contains(t, failed["reason"], "a hook before the deletion failed, so nothing was deleted")
	s.await("the next step is in the log", logged("next step: find the reason in the log above, then run: pipedeck "+
		"remove web --cascade; or leave what still runs: pipedeck remove web --orphan"))
	require.Contains(t, e.pipedeck("tree", "web").Stdout, "Deployment web")
	r := e.pipedeck("remove", "web", "--orphan")
	require.Zero(t, r.Code, r.Stderr)
	waitUntil(t, "web to be forgotten", func() bool { return len(e.list("apps")) == 1 })
}
