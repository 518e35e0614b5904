// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/e2e/drive"
	"github.com/pipedeck/pipedeck/system/gittest"
)

// canary is a pipeline that waits and asks two users before the new version goes everywhere.
const canary = `  pipeline:
    stages:
      - name: K8S_CANARY_ROLLOUT
        with: {replicas: 1}
      - name: WAIT
        with: {duration: 1h}
      - name: WAIT_APPROVAL
        id: ask
        with: {approvers: [ann, bob, cay], minApproverNum: 2}
      - name: K8S_PRIMARY_ROLLOUT
      - name: K8S_CANARY_CLEAN
`

// simulated are manifests whose pods need no image.
func simulated(name string) string {
	return strings.Replace(deployment(name), "pipedeck.dev", "example.com", 1)
}

// changed is a repository with two applications and a second commit that changes the image of one.
func changed(t *testing.T, image string) string {
	t.Helper()
	repo := repository(t, map[string]string{
		"web/app.pipecd.yaml": application("web", canary),
		"web/deployment.yaml": simulated("web"),
		"db/app.pipecd.yaml":  application("db", ""),
		"db/deployment.yaml":  simulated("db"),
	})
	replaceAndCommit(t, repo, "example.com/web:v1", image, "web/deployment.yaml")
	return repo
}

func TestCIFromTheCommitBeforeRunsTheCanary(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := changed(t, "example.com/web:v2")
	state := gittest.Run(t, repo, "for-each-ref") + gittest.Run(t, repo, "status", "--porcelain")
	r := e.pipedeck("ci", repo, "--from", "HEAD~1", "--approve", "auto", "--wait", "fast", "--output", "plain")
	require.Zero(t, r.Code, r.Stdout+r.Stderr)
	base, head := gittest.Run(t, repo, "rev-parse", "--short=7", "HEAD~1"),
		gittest.Run(t, repo, "rev-parse", "--short=7", "HEAD")
	require.Contains(t, r.Stdout, "base "+base+" is deployed; now HEAD "+head)
	require.Contains(t, r.Stdout, "web: touched, PIPELINE SUCCESS in ")
	require.Regexp(t, `K8S_CANARY_ROLLOUT SUCCESS in \d`, r.Stdout)
	require.Contains(t, r.Stdout, "WAIT SKIPPED")
	require.Regexp(t, `ask \(WAIT_APPROVAL\) SUCCESS in .*: Approved by: ann, bob; pipedeck-ci approved as ann; `+
		`pipedeck-ci approved as bob`, r.Stdout)
	require.Regexp(t, `K8S_PRIMARY_ROLLOUT SUCCESS in \d`, r.Stdout)
	require.Contains(t, r.Stdout, "db: unchanged, skipped")
	require.Contains(t, r.Stdout, "web: stage WAIT is shortened, because of --wait fast")
	require.Equal(t, state, gittest.Run(t, repo, "for-each-ref")+gittest.Run(t, repo, "status", "--porcelain"),
		"the repository of the user is only read")
	e.leavesNothing()
}

func TestCIFromTheCommitBeforeFailsWithTheReasonOfTheCanary(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	r := e.pipedeck("ci", changed(t, "registry.invalid/web:v2"), "--from", "HEAD~1", "--approve", "auto", "--wait",
		"fast", "--changed", "--output", "plain")
	require.Equal(t, 1, r.Code, r.Stdout+r.Stderr)
	require.Contains(t, r.Stdout, "web: touched, PIPELINE FAILURE")
	require.Regexp(t, `K8S_CANARY_ROLLOUT FAILURE in .*registry\.invalid/web:v2`, r.Stdout)
	require.NotContains(t, r.Stdout, "WAIT SUCCESS")
	require.Contains(t, r.Stdout, "db: unchanged, not deployed")
	require.NotRegexp(t, `deployment +db `, r.Stdout)
	require.Contains(t, r.Stderr, "web: FAILURE: ")
	require.Contains(t, r.Stderr, "registry.invalid/web:v2")
	require.NotContains(t, r.Stderr, "base")
	e.leavesNothing()
}

func TestCIDeploysHEADInAKeptEnvironment(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := changed(t, "example.com/web:v2")
	gittest.Write(t, repo, "web/app.pipecd.yaml", application("web", ""))
	gittest.Commit(t, repo, "no pipeline")
	run := func(more ...string) drive.Result {
		return e.pipedeck(append([]string{"ci", repo, "--output", "plain"}, more...)...)
	}
	r := run("--keep")
	require.Zero(t, r.Code, r.Stdout+r.Stderr)
	replaceAndCommit(t, repo, "example.com/web:v2", "registry.invalid/web:v3", "web/deployment.yaml")
	r = run("--keep")
	require.Equal(t, 1, r.Code, "a kept environment says nothing of a commit that it has not seen:\n%s",
		r.Stdout+r.Stderr)
	require.Contains(t, r.Stderr, "web: FAILURE: ")
	replaceAndCommit(t, repo, "registry.invalid/web:v3", "example.com/web:v4", "web/deployment.yaml")
	r = run()
	require.Zero(t, r.Code, r.Stdout+r.Stderr)
	require.Regexp(t, `deployment +web .*SUCCESS`, r.Stdout)
	require.NotRegexp(t, `deployment +db .*RUNNING`, r.Stdout)
	require.Regexp(t, `db +UNCHANGED`, r.Stdout)
	r = e.pipedeck("down")
	require.Zero(t, r.Code, r.Stderr)
	e.leavesNothing()
}

func TestCINamesTheFailureOfTheBaseAsSuch(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := changed(t, "example.com/web:v2")
	replaceAndCommit(t, repo, "example.com/db:v1", "registry.invalid/db:v1", "db/deployment.yaml")
	replaceAndCommit(t, repo, "registry.invalid/db:v1", "example.com/db:v2", "db/deployment.yaml")
	r := e.pipedeck("ci", repo, "--from", "HEAD~1", "--output", "plain")
	require.Equal(t, 1, r.Code, r.Stdout+r.Stderr)
	base := gittest.Run(t, repo, "rev-parse", "--short=7", "HEAD~1")
	require.Contains(t, r.Stderr, "base "+base+" failed, so HEAD was not deployed: db: FAILURE: ")
	require.Contains(t, r.Stderr, "next step: the change is not the cause")
	require.NotContains(t, r.Stdout, "now HEAD")
	e.leavesNothing()
}

func TestCINamesAStageThatWaitsAndTheRemedy(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{"note/app.pipecd.yaml": application("note",
		"  pipeline:\n    stages:\n      - name: WAIT_APPROVAL\n        with: {approvers: [ann]}\n")})
	gittest.Write(t, repo, "note/text", "changed")
	gittest.Commit(t, repo, "change")
	r := e.pipedeck("ci", repo, "--from", "HEAD~1", "--cluster", "none", "--timeout", "30s")
	require.Equal(t, 4, r.Code, r.Stdout+r.Stderr)
	named, end, found := strings.Cut(r.Stderr, "timed out: ")
	require.True(t, found, r.Stderr)
	require.Contains(t, named, "note: stage WAIT_APPROVAL waits for an approval of ann; approve it now with: "+
		"pipedeck approve note WAIT_APPROVAL --as ann --name")
	require.Contains(t, named, "--approve auto")
	require.Contains(t, end, "note: stage WAIT_APPROVAL waits for an approval of ann")
	require.Contains(t, end, "next step: run it again with --approve auto")

	r = newEnvironment(t).pipedeck("ci", repo, "--from", "HEAD~1", "--cluster", "none", "--approve", "as:ann")
	require.Zero(t, r.Code, r.Stdout+r.Stderr)
	require.Contains(t, r.Stdout, "Approved by: ann")
}

func TestCITakesApplicationsThatAreOnlyAtOneCommit(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	wait := "  pipeline:\n    stages:\n      - name: WAIT\n        with:\n          duration: 1s\n"
	repo := repository(t, map[string]string{
		"old/app.pipecd.yaml":    application("old", wait),
		"fixed/app.pipecd.yaml":  application("fixed", "  timeout: soon\n"),
		"stays/app.pipecd.yaml":  application("stays", wait),
		"stays/another/file.txt": "x",
	})
	gittest.Run(t, repo, "rm", "-rq", "old")
	gittest.Write(t, repo, "new/app.pipecd.yaml", application("new", wait))
	gittest.Write(t, repo, "fixed/app.pipecd.yaml", application("fixed", wait))
	gittest.Commit(t, repo, "change")
	r := e.pipedeck("ci", repo, "--from", "HEAD~1", "--cluster", "none")
	require.Zero(t, r.Code, r.Stdout+r.Stderr)
	require.Contains(t, r.Stdout, "old: removed, with what it had deployed")
	require.Contains(t, r.Stdout, "fixed: new, PIPELINE SUCCESS")
	require.Contains(t, r.Stdout, "fixed/app.pipecd.yaml:5:")
	require.Contains(t, r.Stdout, "new: new, PIPELINE SUCCESS")
	require.Contains(t, r.Stdout, "stays: unchanged, skipped")
	e.leavesNothing()
}

// server is a repository as a CI provider clones it: the main branch, a pull request with a change of note, and the
// commit that merges it, which no branch has. main has moved on since the pull request began.
type server struct{ url, base, target, change, merge string }

func newServer(t *testing.T) server {
	t.Helper()
	dir := repository(t, map[string]string{"note/app.pipecd.yaml": application("note",
		"  pipeline:\n    stages:\n      - name: WAIT\n        with:\n          duration: 1h\n")})
	s := server{url: "file://" + dir, base: gittest.Run(t, dir, "rev-parse", "HEAD")}
	gittest.Run(t, dir, "checkout", "-q", "-b", "feature")
	gittest.Write(t, dir, "note/text", "changed")
	s.change = gittest.Commit(t, dir, "change")
	gittest.Run(t, dir, "checkout", "-q", "main")
	gittest.Write(t, dir, "README", "elsewhere")
	s.target = gittest.Commit(t, dir, "move on")
	gittest.Run(t, dir, "checkout", "-q", "--detach")
	gittest.Run(t, dir, "merge", "-q", "--no-ff", "-m", "Merge pull request", "feature")
	s.merge = gittest.Run(t, dir, "rev-parse", "HEAD")
	gittest.Run(t, dir, "update-ref", "refs/pull/1/merge", s.merge)
	gittest.Run(t, dir, "checkout", "-q", "main")
	gittest.Run(t, dir, "config", "uploadpack.allowFilter", "true")
	return s
}

func TestCIDeploysTheChangeInTheCheckoutOfEachProvider(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	for name, c := range map[string]struct {
		checkout [][]string
		from     string
		// base and head are the commits that are deployed.
		base, head string
		// fetch is what the error says before the base is there; empty where the checkout has it.
		fetch string
	}{
		"GitHub Actions, pull_request": {
			[][]string{{"init", "-q"}, {"remote", "add", "origin", s.url},
				{"fetch", "-q", "--no-tags", "--prune", "--depth=1", "origin",
					"+" + s.merge + ":refs/remotes/pull/1/merge"},
				{"checkout", "-q", "--force", "refs/remotes/pull/1/merge"}},
			"origin/main", s.target, s.merge, "--depth=1 origin +refs/heads/main:refs/remotes/origin/main",
		},
		"GitHub Actions, pull_request, the parent of the merge commit": {
			[][]string{{"init", "-q"}, {"remote", "add", "origin", s.url},
				{"fetch", "-q", "--no-tags", "--prune", "--depth=1", "origin",
					"+" + s.merge + ":refs/remotes/pull/1/merge"},
				{"checkout", "-q", "--force", "refs/remotes/pull/1/merge"}},
			"HEAD^1", s.target, s.merge, "--deepen=1 origin " + s.merge,
		},
		"GitHub Actions, pull_request with fetch-depth 0": {
			[][]string{{"init", "-q"}, {"remote", "add", "origin", s.url},
				{"fetch", "-q", "--prune", "origin", "+refs/heads/*:refs/remotes/origin/*",
					"+" + s.merge + ":refs/remotes/pull/1/merge"},
				{"checkout", "-q", "--force", "refs/remotes/pull/1/merge"}},
			"main", s.target, s.merge, "",
		},
		"GitHub Actions, push": {
			[][]string{{"init", "-q"}, {"remote", "add", "origin", s.url},
				{"fetch", "-q", "--no-tags", "--prune", "--depth=1", "origin",
					"+" + s.change + ":refs/remotes/origin/feature"},
				{"checkout", "-q", "--force", "-B", "feature", "refs/remotes/origin/feature"}},
			"HEAD~1", s.base, s.change, "--deepen=1 origin",
		},
		"GitLab": {
			[][]string{{"init", "-q"}, {"remote", "add", "origin", s.url},
				{"fetch", "-q", "--depth=20", "--prune", "origin", "+" + s.change + ":refs/pipelines/7",
					"+refs/heads/feature:refs/remotes/origin/feature"},
				{"checkout", "-q", "-f", s.change}},
			s.base, s.base, s.change, "",
		},
		"Jenkins": {
			[][]string{{"init", "-q"},
				{"fetch", "-q", "--tags", "--force", s.url, "+refs/heads/*:refs/remotes/origin/*"},
				{"config", "remote.origin.url", s.url}, {"checkout", "-q", "-f", s.change}},
			"origin/main", s.target, s.change, "",
		},
		"CircleCI": {
			[][]string{{"clone", "-q", "--no-checkout", s.url, "."}, {"checkout", "-q", "-B", "feature"},
				{"reset", "-q", "--hard", s.change}},
			"main~1", s.base, s.change, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t)
			dir := t.TempDir()
			for _, args := range c.checkout {
				gittest.Run(t, dir, args...)
			}
			run := func() drive.Result {
				cmd := e.command("ci", "--from", c.from, "--wait", "fast", "--cluster", "none", "--output", "json",
					"--timeout", "3m")
				cmd.Dir = dir
				r, err := drive.Run(cmd)
				require.NoError(t, err)
				return r
			}
			if c.fetch != "" {
				r := run()
				require.Equal(t, 2, r.Code, r.Stderr)
				require.Contains(t, r.Stderr, "this shallow clone does not have "+c.from)
				_, command, found := strings.Cut(r.Stderr, "next step: ")
				require.True(t, found, r.Stderr)
				command, _, _ = strings.Cut(command, "\n")
				require.Contains(t, command, c.fetch)
				out, err := exec.Command("sh", "-c", command).CombinedOutput()
				require.NoError(t, err, string(out))
			}
			r := run()
			require.Zero(t, r.Code, r.Stderr)
			events := parse(t, r.Stdout)
			require.True(t, has(events, func(ev event) bool { return ev.is("switch", "base", c.base, "head", c.head) }))
			require.True(t, has(events, deployed("note", "SUCCESS", "commit", c.base)))
			require.True(t, has(events, deployed("note", "SUCCESS", "commit", c.head, "strategy", "PIPELINE")))
			require.True(t,
				has(events, func(ev event) bool { return ev.is("stage", "name", "WAIT", "status", "SKIPPED") }))
			e.leavesNothing()
		})
	}
}

func TestCIOfAChangeThatTouchesNothingStartsNothing(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t,
		map[string]string{"note/app.pipecd.yaml": application("note", pipeline("WAIT", "duration: 1s"))})
	gittest.Write(t, repo, "README", "words")
	gittest.Commit(t, repo, "words")
	r := e.pipedeck("ci", repo, "--from", "HEAD~1", "--changed")
	require.Zero(t, r.Code, r.Stderr)
	require.Contains(t, r.Stdout,
		"nothing to deploy: HEAD~1..HEAD touches no application; 1 application: 1 UNCHANGED")
	require.NotContains(t, r.Stdout, "component")
	e.leavesNothing()
	r = e.pipedeck("ci", repo, "--from", "HEAD~1", "--changed", "--output", "json")
	require.Zero(t, r.Code, r.Stderr)
	events := parse(t, r.Stdout)
	last := events[len(events)-1]
	require.True(t, last.is("result", "reason", "nothing to deploy: HEAD~1..HEAD touches no application"), r.Stdout)
	require.Equal(t, true, last["nothing_to_deploy"])
	r = e.pipedeck("ci", filepath.Join(repo, "note"), "--from", "HEAD", "--cluster", "none", "--timeout", "3m")
	require.Zero(t, r.Code, r.Stderr)
	require.Contains(t, r.Stdout, "is HEAD itself: there is no change to deploy")
	require.Contains(t, r.Stdout, "note: unchanged, PIPELINE SUCCESS")
}
