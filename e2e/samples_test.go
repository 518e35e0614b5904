// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/piped/config"
	sampleapps "github.com/pipedeck/pipedeck/sample-apps"
	"github.com/pipedeck/pipedeck/system/gittest"
)

func TestEachSampleIsDeployedByCI(t *testing.T) {
	t.Parallel()
	for _, sample := range sampleapps.All() {
		if sample.Clusterless {
			continue // it needs OpenTofu or Terraform: make e2e-platforms deploys it
		}
		t.Run(sample.Name, func(t *testing.T) {
			t.Parallel()
			e := newEnvironment(t)
			args := []string{"ci", "--sample", sample.Name, "--output", "json", "--timeout", "2m"}
			for _, name := range sample.Clusters {
				args = append(args, "--cluster", name+"=embedded")
			}
			r := e.pipedeck(args...)
			require.Zero(t, r.Code, r.Stderr)
			events := parse(t, r.Stdout)
			require.NoError(t, sample.Walk(func(name string, content []byte) error {
				if !workspace.IsApplicationConfig(name) {
					return nil
				}
				app, err := config.ParseApplication(content, name)
				require.NoError(t, err)
				require.True(t, has(events, deployed(app.Name, "SUCCESS")), app.Name)
				return nil
			}))
			e.leavesNothing()
		})
	}
}

func TestTheCanaryOfTheSampleFailsWithItsReasonAndIsRolledBack(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.start("up", "--sample", "failing-canary")
	s.await("it is deployed", deployed("failing-canary", "SUCCESS"))
	for _, c := range []struct{ greeting, stage, reason string }{
		{`value: ""`, "canary", "GREETING is empty: there is nothing to say"},
		{"value: Good morning!", "check", "it does not greet with Hello"},
	} {
		e.edit("failing-canary/deployment.yaml", greetingOf(t, e), c.greeting, "Break it")
		commit := e.git("rev-parse", "HEAD")
		failed := s.await("it fails", deployed("failing-canary", "FAILURE", "commit", commit))
		id := failed["id"].(string)
		s.await("the stage says why", func(v event) bool {
			text, _ := v["text"].(string)
			return v.is("log", "deployment", id) && strings.Contains(text, c.reason)
		})
		s.await("it is rolled back", func(v event) bool {
			return v.is("stage", "deployment", id, "name", "K8S_ROLLBACK", "status", "SUCCESS")
		})
		require.Contains(t, failed["reason"], "Stage "+c.stage+" failed")
		require.Contains(t, e.get(e.open("failing-canary")), "Hello, world! ", "users see the version before")
	}
}

// greetingOf is the line of the sample that a user changes.
func greetingOf(t *testing.T, e *environment) string {
	t.Helper()
	content := e.git("show", "HEAD:failing-canary/deployment.yaml")
	_, after, found := strings.Cut(content, "- name: GREETING\n")
	require.True(t, found)
	line, _, _ := strings.Cut(after, "\n")
	return strings.TrimSpace(line)
}

func TestTheChecksOfTheGraphRunSideBySide(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.start("up", "--sample", "dag")
	s.await("it is deployed", deployed("dag", "SUCCESS"))
	e.edit("dag/deployment.yaml", "value: Hello, world!", "value: Good morning!", "Say good morning")
	s.await("the approval waits for all checks", waits("dag"))
	require.Zero(t, e.pipedeck("approve", "dag").Code)
	commit := e.git("rev-parse", "HEAD")
	s.await("it is deployed again", deployed("dag", "SUCCESS", "commit", commit))
	require.Contains(t, e.get(e.open("dag")), "Good morning!")
}

// What init writes for a repository of the usual shapes is valid, and deploys.
func TestWhatInitWritesIsDeployed(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	deployment := func(name string) string {
		return strings.Replace(deployment(name), "pipedeck.dev/", "registry.example/", 1)
	}
	chart := strings.NewReplacer("name: web", "name: {{ .Release.Name }}", "app: web", "app: {{ .Release.Name }}").
		Replace(deployment("web"))
	repo := repository(t, map[string]string{
		"k8s/web.yaml": deployment("web"), "k8s/db/db.yaml": strings.Replace(deployment("db"), "  name: db\n",
			"  name: db\n  namespace: data\n", 1),
		"api/base/kustomization.yaml":             "resources: [api.yaml]\n",
		"api/base/api.yaml":                       deployment("api"),
		"api/overlays/staging/kustomization.yaml": "resources: [../../base]\n",
		"api/overlays/production/kustomization.yaml": "namespace: live\nresources:\n  - ../../base\n" +
			"  - ../../../common/map.yaml\n",
		"common/map.yaml":                 "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: common}\n",
		"charts/front/Chart.yaml":         "apiVersion: v2\nname: front\nversion: 0.1.0\n",
		"charts/front/values.yaml":        "image: registry.example/front:v1\n",
		"charts/front/templates/web.yaml": chart,
	})
	r := e.pipedeck("ci", repo)
	require.Equal(t, 2, r.Code)
	require.Contains(t, r.Stderr, "pipedeck init "+repo)
	for _, pipeline := range []string{"bluegreen", "canary", "quick"} {
		r = e.pipedeck("init", repo, "--pipeline", pipeline)
		require.Zero(t, r.Code, r.Stderr)
	}
	r = e.pipedeck("init", repo, "--pipeline", "canary", "--write")
	require.Zero(t, r.Code, r.Stderr)
	r = e.pipedeck("validate", repo, "--strict")
	require.Zero(t, r.Code, r.Stdout)
	gittest.Commit(t, repo, "Add applications")
	r = e.pipedeck("ci", repo, "--output", "json")
	require.Zero(t, r.Code, r.Stderr)
	events := parse(t, r.Stdout)
	for _, app := range []string{"repository", "db", "api-staging", "api-production", "front"} {
		require.True(t, has(events, deployed(app, "SUCCESS")), app)
	}
	e.leavesNothing()
}

// The pods that are bad answer a tenth of the requests at most, half of which fail, and they are gone as soon as the
// metrics say so: all other requests get the old version's answer, whatever happens.
func TestTheSampleAnalysisStopsAtItsFirstBadStep(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	s := e.start("up", "--sample", "analysis", "--cluster", "embedded")
	s.await("it is deployed", deployed("analysis", "SUCCESS"))
	s.await("its metrics are there", deployed("analysis-metrics", "SUCCESS"))
	e.edit("analysis/deployment.yaml", "value: v1", "value: v2", "A good version")
	s.await("a good version passes all steps", deployed("analysis", "SUCCESS", "commit", e.git("rev-parse", "HEAD")))
	users := newCrowdAt(t, e.open("analysis"), 50*time.Millisecond)
	e.edit("analysis/deployment.yaml", `value: "0"`, `value: "50"`, "Break half of the answers")
	commit := e.git("rev-parse", "HEAD")
	decided := s.await("the metric decides", func(e event) bool {
		text, _ := e["text"].(string)
		return e.is("log") && strings.HasPrefix(text, "metrics[0]: bad: ") &&
			strings.Contains(text, ", expected at most 0.1: ") && strings.HasSuffix(text,
			" is too high; failure 2, failureLimit 1; query: "+`error_share{target="canary"}`)
	})
	_, err := exec.LookPath("prometheus")
	require.Equal(t, err != nil, s.seen(func(e event) bool {
		text, _ := e["text"].(string)
		return e["deployment"] == decided["deployment"] && strings.HasPrefix(text, "metrics[0]: its provider says: ") &&
			strings.Contains(text, "which is not Prometheus")
	}), "what is not Prometheus says so")
	failed := s.await("it fails", deployed("analysis", "FAILURE", "commit", commit))
	require.Contains(t, failed["reason"], "Stage analysis-10 failed: metrics[0] has failed 2 times, more than its "+
		"failureLimit 1: ")
	users.asks(t, users.asked.Load()+20)
	bad := 0
	for _, answers := range users.leave() {
		for _, answer := range answers {
			if strings.HasPrefix(answer, "500 Internal Server Error: this version is bad") {
				bad++
				continue
			}
			require.Contains(t, answer, "(version v2, ", "someone answers all the time")
		}
		require.Contains(t, answers[len(answers)-1], "(version v2, ", "the bad pods are gone")
	}
	require.Positive(t, bad, "users have met the canary")
}
