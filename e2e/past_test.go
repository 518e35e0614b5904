// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/filetest"
	"github.com/pipedeck/pipedeck/system/gittest"
)

// pastStory is an environment with an application "web" that writes its version to a file, and fails with version v2.
type pastStory struct {
	*environment
	stream   *stream
	dir, ran string
}

func startPast(t *testing.T) *pastStory {
	t.Helper()
	p := &pastStory{environment: newEnvironment(t), ran: filepath.Join(t.TempDir(), "ran")}
	run := "cat version >> '" + p.ran + "'; ! grep -q v2 version"
	noRollback := strings.Replace(pipeline("SCRIPT_RUN", "run: "+run), "alwaysUsePipeline: true",
		"alwaysUsePipeline: true\n    autoRollback: false", 1)
	p.dir = repository(t, map[string]string{
		"web/app.pipecd.yaml": application("web", noRollback), "web/version": "v1\n",
		"other/app.pipecd.yaml": application("other", pipeline("WAIT", "duration: 1s")),
	})
	p.stream = p.start("up", p.dir, "--cluster", "none")
	for _, app := range []string{"web", "other"} {
		p.stream.await(app+" is deployed", func(e event) bool {
			return e.is("deployment", "app", app, "status", "SUCCESS")
		})
	}
	return p
}

// commit writes a file and commits it.
func (p *pastStory) commit(file, content string) {
	p.t.Helper()
	filetest.Write(p.t, p.dir, map[string]string{file: content})
	gittest.Commit(p.t, p.dir, content)
}

// of lists the deployments of an application, the newest first.
func (p *pastStory) of(app string) (found []map[string]any) {
	p.t.Helper()
	for _, d := range p.list("deployments") {
		if d["app"] == app {
			found = append(found, d)
		}
	}
	return found
}

// ended waits until an application has n deployments and the newest has ended with a status, and returns that.
func (p *pastStory) ended(app string, n int, status string) (newest map[string]any) {
	p.t.Helper()
	waitUntil(p.t, app+" to have ended", func() bool {
		all := p.of(app)
		if len(all) < n || all[0]["completed_at"] == nil {
			return false
		}
		newest = all[0]
		return true
	})
	require.Len(p.t, p.of(app), n)
	require.Equal(p.t, status, newest["status"], newest["reason"])
	return newest
}

// says runs a command with -o json.
func (p *pastStory) says(args ...string) (answer map[string]any) {
	p.t.Helper()
	r := p.pipedeck(append(args, "-o", "json")...)
	require.Zero(p.t, r.Code, r.Stderr)
	require.NoError(p.t, json.Unmarshal([]byte(r.Stdout), &answer), r.Stdout)
	return answer
}

func (p *pastStory) runs() string {
	p.t.Helper()
	content, err := os.ReadFile(p.ran)
	require.NoError(p.t, err)
	return strings.Join(strings.Fields(string(content)), " ")
}

func commitOf(deployment map[string]any) string {
	return deployment["commit"].(string)
}

// atRest returns the sync state of web and its reason once no deployment runs.
func (p *pastStory) atRest() (sync, reason string) {
	p.t.Helper()
	waitUntil(p.t, "web to be at rest", func() bool {
		for _, a := range p.list("apps") {
			if a["name"] == "web" && a["deploying"] == false && a["sync"] != "DEPLOYING" {
				sync, reason = a["sync"].(string), a["short_reason"].(string)
				return true
			}
		}
		return false
	})
	return sync, reason
}

func TestAFailedDeploymentIsRetriedAndRolledBackByKeys(t *testing.T) {
	t.Parallel()
	p := startPast(t)
	first := p.of("web")[0]
	p.commit("web/version", "v2\n")
	failed := p.ended("web", 2, "FAILURE")

	ui := openTerminal(t, p.command("attach"), 120, 36)
	ui.sees(`1 Applications`)
	ui.presses("1G")
	ui.sees(`R retry`)
	ui.presses("R")
	ui.sees(`Retry the deployment of web\?`)
	ui.presses("y")
	retried := p.ended("web", 3, "FAILURE")
	require.Equal(t, failed["id"], retried["retry_of"])
	require.Equal(t, commitOf(failed), commitOf(retried))
	require.NotEmpty(t, retried["commander"])
	require.Contains(t, retried["summary"], "Retried by "+retried["commander"].(string))
	ui.sees(`Retried by `)
	ui.sees(`R retry`)
	ui.presses("B")
	ui.sees(`Roll back web to`)
	ui.presses("1")
	ui.sees(`web is out of sync until the next commit`)
	ui.presses("y")
	back := p.ended("web", 4, "SUCCESS")
	require.Equal(t, first["id"], back["rollback_to"])
	require.Equal(t, commitOf(first), commitOf(back))
	require.Equal(t, "v1 v2 v2 v1", p.runs())
	sync, reason := p.atRest()
	require.Equal(t, "OUT_OF_SYNC", sync)
	require.Equal(t, "Rolled back to "+commitOf(first)[:7]+": out of sync until the next commit", reason)
	ui.presses("B")
	ui.sees(`no earlier deployment of web with another commit has succeeded`)
	ui.presses("q")
	ui.sees(`keep it running`)
	ui.presses("y")
	require.Zero(t, ui.wait())
}

func TestARollbackStaysUntilTheNextCommitAlsoWhenPipedIsKilled(t *testing.T) {
	t.Parallel()
	p := startPast(t)
	first := p.of("web")[0]
	refused := p.pipedeck("retry", "web")
	require.Equal(t, 2, refused.Code)
	require.Contains(t, refused.Stderr, "cannot retry web: nothing failed: the newest deployment of web has succeeded")
	refused = p.pipedeck("rollback", "web")
	require.Equal(t, 2, refused.Code)
	require.Contains(t, refused.Stderr, "no earlier deployment of web with another commit has succeeded")

	p.commit("web/version", "v2\n")
	failed := p.ended("web", 2, "FAILURE")
	answer := p.says("retry", "web")
	require.Equal(t, failed["id"], answer["of"])
	require.Equal(t, p.ended("web", 3, "FAILURE")["id"], answer["deployment"])
	answer = p.says("rollback", "web", "--to", commitOf(first)[:7])
	back := p.ended("web", 4, "SUCCESS")
	require.Equal(t, back["id"], answer["deployment"])
	require.Equal(t, commitOf(first), commitOf(back))

	p.commit("other/note", "1\n")
	p.ended("other", 2, "SUCCESS")
	require.NoError(t, syscall.Kill(p.child("piped"), syscall.SIGKILL))
	p.commit("other/note", "2\n")
	p.ended("other", 3, "SUCCESS")
	require.Len(t, p.of("web"), 4, "other commits do not touch it")
	require.Equal(t, "v1 v2 v2 v1", p.runs())

	p.commit("web/version", "v3\n")
	p.ended("web", 5, "SUCCESS")
	r := p.pipedeck("rollback", "web")
	require.Zero(t, r.Code, r.Stderr)
	require.Contains(t, r.Stdout, "asked to roll back web, by a deployment of commit "+commitOf(first)[:7])
	p.ended("web", 6, "SUCCESS")
	require.Zero(t, p.pipedeck("sync", "web").Code)
	p.ended("web", 7, "SUCCESS")
	require.Equal(t, "v1 v2 v2 v1 v3 v1 v3", p.runs(), "a sync deploys the newest commit")
	sync, _ := p.atRest()
	require.Equal(t, "SYNCED", sync)
}
