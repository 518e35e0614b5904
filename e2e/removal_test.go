// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/gittest"
)

func TestAnApplicationThatIsDeletedInGitIsOrphanedAndThenRemovedWithWhatItDeployed(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	dir := repository(t, map[string]string{
		"web/app.pipecd.yaml": application("web", ""), "web/deployment.yaml": simulated("web"),
		"db/app.pipecd.yaml": application("db", ""), "db/deployment.yaml": simulated("db"),
	})
	s := e.start("up", dir)
	for _, app := range []string{"web", "db"} {
		s.await(app+" is healthy", func(e event) bool {
			return e.is("application", "name", app, "sync", "SYNCED", "health", "HEALTHY")
		})
	}
	gittest.Run(t, dir, "rm", "-rq", "web")
	gittest.Commit(t, dir, "delete")
	s.await("web is orphaned", func(e event) bool { return e.is("application", "name", "web", "sync", "ORPHANED") })
	require.Contains(t, e.pipedeck("tree", "web").Stdout, "Deployment web", "what runs is still shown")

	r := e.pipedeck("remove", "db", "--cascade")
	require.Equal(t, 1, r.Code, r.Stdout+r.Stderr)
	require.Contains(t, r.Stderr, "db is still in Git")
	r = e.pipedeck("remove", "web")
	require.Equal(t, 2, r.Code, r.Stdout+r.Stderr)
	require.Contains(t, r.Stderr, "--cascade")
	require.Contains(t, r.Stderr, "--orphan")

	r = e.pipedeck("remove", "web", "--cascade")
	require.Zero(t, r.Code, r.Stdout+r.Stderr)
	s.await("everything is deleted", func(e event) bool {
		return e.is("log") && strings.Contains(e["text"].(string), "Removed the application: 1 resource deleted")
	})
	waitUntil(t, "web to be gone", func() bool { return len(e.list("apps")) == 1 })
	require.Contains(t, e.pipedeck("tree", "db").Stdout, "Deployment db")

	gittest.Run(t, dir, "revert", "--no-edit", "HEAD")
	waitUntil(t, "web to come back", func() bool {
		for _, app := range e.list("apps") {
			if app["name"] == "web" && app["health"] == "HEALTHY" && app["sync"] == "SYNCED" {
				return true
			}
		}
		return false
	})
}

func TestAnApplicationWhoseDirectoryIsRenamedKeepsItsHistory(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	dir := repository(t, map[string]string{
		"web/app.pipecd.yaml": application("web", pipeline("WAIT", "duration: 1s")), "web/version": "v1\n",
	})
	s := e.start("up", dir, "--cluster", "none")
	s.await("web is deployed", func(e event) bool { return e.is("deployment", "app", "web", "status", "SUCCESS") })
	id := e.list("apps")[0]["id"]
	gittest.Run(t, dir, "mv", "web", "site")
	gittest.Commit(t, dir, "move")
	waitUntil(t, "the move to be deployed", func() bool {
		all := e.list("deployments")
		return len(all) == 2 && all[0]["status"] == "SUCCESS"
	})
	apps := e.list("apps")
	require.Len(t, apps, 1)
	require.Equal(t, id, apps[0]["id"])
	require.Equal(t, "site", apps[0]["path"])
}
