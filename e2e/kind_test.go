// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && kind

package e2e

import (
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// The stories on real containers. PIPEDECK_TEST_NODE_IMAGE names the node image; without it they
// use kind's own.

// onKind is an environment whose containers have names that no other environment has.
func onKind(t *testing.T) *environment {
	t.Helper()
	require.NotEmpty(t, os.Getenv("PIPEDECK_TEST_ENGINE"), "run the stories with: make e2e-kind")
	e := newEnvironment(t)
	e.Name = "k" + uuid.NewString()[:8]
	return e
}

// kind adds the flags that every start needs.
func kind(args ...string) []string {
	if image := os.Getenv("PIPEDECK_TEST_NODE_IMAGE"); image != "" {
		args = append(args, "--node-image", image)
	}
	return args
}

func TestKindCanaryIsSeenByBrowsersAndACrashIsRolledBack(t *testing.T) {
	t.Parallel()
	e := onKind(t)
	s := e.start(kind("up", "--sample", "hello-world", "--cluster", "kind")...)
	s.await("piped is there before the cluster", func(e event) bool {
		return e.is("component", "name", "piped", "state",
			"READY")
	})
	s.await("hello-world is deployed", deployed("hello-world", "SUCCESS"))
	s.await("and so is the other", deployed("hello-world-quick", "SUCCESS"))
	url := e.open("hello-world")
	require.Contains(t, get(t, url), "(version v1, ")

	e.edit("hello-world/deployment.yaml", "value: v1", "value: v2", "Version two")
	s.await("the canary waits for an approval", stage("WAIT_APPROVAL", "RUNNING"))
	seen := map[string]int{}
	waitUntil(t, "both versions answer", func() bool {
		seen[version(get(t, url))]++
		return seen["v1"] > 0 && seen["v2"] > 0
	})
	require.Zero(t, e.pipedeck("approve").Code)
	s.await("version two is everywhere", deployed("hello-world", "SUCCESS", "commit", e.git("rev-parse", "HEAD")))
	waitUntil(t, "version one is gone", func() bool {
		for range 10 {
			if version(get(t, url)) != "v2" {
				return false
			}
		}
		return true
	})

	e.edit("hello-world/main.go", "func main() {", "func main() {\n\tlog.Fatal(\"the ledger is locked\")",
		"Crash at the start")
	s.await("the crash fails the deployment", deployed("hello-world", "FAILURE"))
	s.await("the log shows the container's last words", func(e event) bool {
		text, _ := e["text"].(string)
		return e.is("log", "severity", "ERROR") && strings.Contains(text, "the ledger is locked")
	})
	s.await("it is rolled back", stage("K8S_ROLLBACK", "SUCCESS"))
	for range 10 {
		require.Equal(t, "v2", version(get(t, url)))
	}

	require.Zero(t, e.pipedeck("down").Code)
	_, code := s.wait()
	require.Zero(t, code)
	e.leavesNothing()
	require.Empty(t, e.containers(), "down leaves no container")
}

func TestKindTwoClustersAtOnce(t *testing.T) {
	t.Parallel()
	e := onKind(t)
	files := map[string]string{"go.mod": "module sample\n\ngo 1.26\n", "web/main.go": webServer}
	for _, target := range []string{"dev", "prod"} {
		files[target+"/app.pipecd.yaml"] = application("web-"+target,
			"  labels:\n    pipedeck.dev/target: "+target+"\n")
		files[target+"/deployment.yaml"] = strings.ReplaceAll(deployment("web"), "replicas: 2", "replicas: 1")
		files[target+"/service.yaml"] = service("web")
	}
	s := e.start(kind("up", repository(t, files), "--cluster", "dev=kind", "--cluster", "prod=kind")...)
	for _, target := range []string{"dev", "prod"} {
		s.await(target+" is deployed", deployed("web-"+target, "SUCCESS"))
		require.Contains(t, get(t, e.open("web-"+target)), "hello from ")
	}
	require.NotEqual(t, get(t, e.open("web-dev")), get(t, e.open("web-prod")), "each runs in its own cluster")
	require.Zero(t, e.pipedeck("down").Code)
	s.wait()
	e.leavesNothing()
}

func TestKindInterruptedInTheMiddleOfCreationLeavesNothing(t *testing.T) {
	t.Parallel()
	e := onKind(t)
	s := e.start(kind("ci", "--sample", "hello-world", "--cluster", "kind")...)
	waitUntil(t, "a node's container runs", func() bool { return len(e.containers()) > 0 })
	s.interrupt()
	_, code := s.wait()
	require.Equal(t, 130, code)
	e.leavesNothing()
	require.Empty(t, e.containers())
}

func TestKindSurvivesAKillAndIsAdopted(t *testing.T) {
	t.Parallel()
	e := onKind(t)
	s := e.start(kind("up", "--sample", "hello-world", "--cluster", "kind")...)
	s.await("hello-world is deployed", deployed("hello-world", "SUCCESS"))
	ours := e.containers()
	require.Len(t, ours, 1)
	require.NoError(t, s.cmd.Process.Kill())
	s.wait()

	again := e.start(kind("up", "--sample", "hello-world", "--cluster", "kind")...)
	again.await("the cluster is adopted", func(e event) bool {
		return e.is("component", "name", "kubernetes", "state", "READY")
	})
	again.await("hello-world is deployed", deployed("hello-world", "SUCCESS"))
	require.Equal(t, ours, e.containers(), "it is the same node")
	require.NoError(t, again.cmd.Process.Kill())
	again.wait()

	require.Zero(t, e.pipedeck("down").Code, "down finds what a killed environment left")
	require.Empty(t, e.containers())
	e.leavesNothing()
}

func stage(name, status string) func(event) bool {
	return func(e event) bool { return e.is("stage", "name", name, "status", status) }
}

func get(t *testing.T, url string) string {
	t.Helper()
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get(url)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode, "%s", body)
	return string(body)
}

// containers are those of the environment's clusters: their names hold the environment's.
func (e *environment) containers() []string {
	e.t.Helper()
	out, err := exec.Command(os.Getenv("PIPEDECK_TEST_ENGINE"), "ps", "-a", "--no-trunc", "--format",
		"{{.ID}} {{.Names}}").Output()
	require.NoError(e.t, err)
	var ours []string
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, e.Name) {
			ours = append(ours, strings.TrimSpace(line))
		}
	}
	return ours
}

const webServer = `package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "hello from", os.Getenv("HOSTNAME"))
	})
	if err := http.ListenAndServe(":8080", nil); err != nil {
		panic(err)
	}
}
`

func service(name string) string {
	return strings.ReplaceAll(`apiVersion: v1
kind: Service
metadata:
  name: NAME
spec:
  selector: {app: NAME}
  ports:
    - name: http
      port: 80
      targetPort: 8080
`, "NAME", name)
}
