// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && kind

package e2e

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const blueGreenPipeline = `  pipeline:
    stages:
      - {name: K8S_CANARY_ROLLOUT, with: {replicas: 100%}}
      - {name: K8S_TRAFFIC_ROUTING, with: {all: canary}}
      - {name: WAIT_APPROVAL, with: {minApproverNum: 1}}
      - {name: K8S_PRIMARY_ROLLOUT}
      - {name: K8S_TRAFFIC_ROUTING, with: {all: primary}}
      - {name: WAIT, with: {duration: 2s}}
      - {name: K8S_CANARY_CLEAN}
`

func TestKindBlueGreenAnswersWithOneVersionAtATime(t *testing.T) {
	t.Parallel()
	e := onKind(t)
	label := strings.NewReplacer("{app: web}", "{app: web, pipecd.dev/variant: primary}")
	web := label.Replace(deployment("web")) + "          env: [{name: VERSION, value: v1}]\n" +
		"          readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}\n"
	dir := repository(t, map[string]string{
		"go.mod": "module sample\n\ngo 1.26\n", "web/main.go": strings.ReplaceAll(webServer, "HOSTNAME", "VERSION"),
		"web/app.pipecd.yaml": application("web", blueGreenPipeline), "web/deployment.yaml": web, "web/service.yaml": label.Replace(service("web")),
	})
	s := e.start(kind("up", dir, "--cluster", "kind")...)
	s.await("version one is deployed", deployed("web", "SUCCESS"))
	url := e.open("web")
	require.Equal(t, "hello from v1\n", get(t, url))

	visitors := visit(t, url)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "web/deployment.yaml"), []byte(strings.Replace(web, "v1}]", "v2}]", 1)), 0o644))
	git(t, dir, "commit", "-aqm", "Version two")
	s.await("green waits for an approval", stage("WAIT_APPROVAL", "RUNNING"))
	waitUntil(t, "green answers", func() bool { return get(t, url) == "hello from v2\n" })
	require.Zero(t, e.pipedeck("approve").code)
	s.await("version two is everywhere", deployed("web", "SUCCESS", "commit", git(t, dir, "rev-parse", "HEAD")))
	answers := visitors()
	counts := map[string]int{}
	for _, a := range answers {
		counts[a]++
	}
	t.Logf("answers: %v", counts)
	require.Equal(t, []string{"hello from v1\n", "hello from v2\n"}, slices.Compact(answers), "%v", counts)

	require.Zero(t, e.pipedeck("down").code)
	s.wait()
	e.leavesNothing()
}

// visit asks again and again until the returned function is called, which gives the answers in their order; what is not an
// answer of the program is there as an error's text.
func visit(t *testing.T, url string) func() []string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan []string, 1)
	go func() {
		client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
		var answers []string
		for ctx.Err() == nil {
			answers = append(answers, ask(&client, url))
		}
		done <- answers
	}()
	stop := func() []string {
		cancel()
		answers := <-done
		done <- answers
		return answers
	}
	t.Cleanup(func() { stop() })
	return stop
}

func ask(client *http.Client, url string) string {
	response, err := client.Get(url)
	if err != nil {
		return err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err.Error()
	}
	return string(body)
}
