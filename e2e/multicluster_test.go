// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/gittest"
)

// inTwoClusters goes to one cluster first; each has its own file.
const inTwoClusters = `apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: web
  pipeline:
    stages:
      - {name: K8S_MULTI_CANARY_ROLLOUT, with: {multiTargets: [tokyo]}}
      - {name: K8S_MULTI_PRIMARY_ROLLOUT}
      - {name: K8S_MULTI_CANARY_CLEAN}
  plugins:
    kubernetes_multicluster:
      input:
        multiTargets:
          - {target: {name: tokyo}, manifests: [deployment.yaml, tokyo.yaml]}
          - {target: {name: london}, manifests: [deployment.yaml, london.yaml]}
`

func TestOneApplicationInTwoClusters(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	files := map[string]string{"web/app.pipecd.yaml": inTwoClusters,
		"web/deployment.yaml": strings.Replace(deployment("web"), "pipedeck.dev/web:v1", "web:v1", 1)}
	for _, city := range []string{"tokyo", "london"} {
		files["web/"+city+".yaml"] = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + city + "}\n"
	}
	repo := repository(t, files)
	s := e.start("up", repo, "--cluster", "tokyo=embedded", "--cluster", "london=embedded")
	s.await("web is deployed", func(ev event) bool { return ev.is("deployment", "app", "web", "status", "SUCCESS") })
	logs := func(text string) func(event) bool {
		return func(ev event) bool { return ev["type"] == "log" && strings.Contains(ev["text"].(string), text) }
	}
	for _, city := range []string{"tokyo", "london"} {
		s.await(city+" gets its own file", logs("["+city+"] - ConfigMap default/"+city+": created"))
		s.await(city+" is done", logs("Deploy target "+city+": done"))
	}
	s.await("live states of both are as in Git", func(ev event) bool {
		return ev.is("application", "name", "web",
			"sync", "SYNCED", "health", "HEALTHY")
	})

	path := filepath.Join(repo, "web", "deployment.yaml")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.ReplaceAll(string(content), "web:v1", "web:v2")), 0o644))
	gittest.Run(t, repo, "commit", "-qam", "second")
	s.await("the canary is in one cluster", logs("[tokyo] - Deployment default/web-canary: created"))
	s.await("the pipeline ends", func(ev event) bool {
		return ev.is("stage", "name", "K8S_MULTI_CANARY_CLEAN", "status",
			"SUCCESS")
	})
	s.await("the canary goes", logs("[tokyo] - Deployment default/web-canary: deleted"))
	s.await("there was none elsewhere", logs("[london] There are no resources of the canary variant"))
	require.Zero(t, e.pipedeck("down").Code)
	s.wait()
	e.leavesNothing()
}
