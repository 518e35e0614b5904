// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && kind

package e2e

import (
	"context"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/gittest"
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

const canaryPipeline = `  pipeline:
    stages:
      - {name: K8S_CANARY_ROLLOUT, with: {replicas: 50%}}
      - {name: K8S_BASELINE_ROLLOUT, with: {replicas: 50%}}
      - {name: WAIT_APPROVAL, with: {minApproverNum: 1}}
      - {name: K8S_PRIMARY_ROLLOUT}
      - {name: K8S_CANARY_CLEAN}
      - {name: K8S_BASELINE_CLEAN}
`

// One cluster runs two stories at once: an application is blue or green, and another has a canary and a baseline
// next to its primary. A page names the version and the pod.
func TestKindPipelinesAnswerWithTheVersionsTheyShould(t *testing.T) {
	t.Parallel()
	e := onKind(t)
	label := strings.NewReplacer("{app: web}", "{app: web, pipecd.dev/variant: primary}")
	version := "          env: [{name: VERSION, value: v1}]\n" +
		"          readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}\n"
	page := strings.Replace(webServer, `os.Getenv("HOSTNAME")`, `os.Getenv("VERSION"), "at", os.Getenv("HOSTNAME")`, 1)
	dir := repository(t, map[string]string{
		"go.mod": "module sample\n\ngo 1.26\n", "web/main.go": strings.ReplaceAll(webServer, "HOSTNAME", "VERSION"),
		"shop/main.go":         page,
		"web/app.pipecd.yaml":  application("web", blueGreenPipeline),
		"web/deployment.yaml":  label.Replace(deployment("web")) + version,
		"web/service.yaml":     label.Replace(service("web")),
		"shop/app.pipecd.yaml": application("shop", canaryPipeline),
		"shop/deployment.yaml": deployment("shop") + version, "shop/service.yaml": service("shop"),
	})
	s := e.start(kind("up", dir, "--cluster", "kind")...)
	s.await("version one of web is deployed", deployed("web", "SUCCESS"))
	s.await("version one of shop is deployed", deployed("shop", "SUCCESS"))
	web, shop := e.open("web"), e.open("shop")
	require.Equal(t, "hello from v1\n", get(t, web))
	require.Equal(t, map[string]int{"v1 at primary": 20}, tally(t, shop, 20))

	visitors := visit(t, web)
	for _, file := range []string{"web/deployment.yaml", "shop/deployment.yaml"} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, file),
			[]byte(strings.Replace(string(text), "v1}]", "v2}]", 1)), 0o644))
	}
	gittest.Run(t, dir, "commit", "-aqm", "Version two")
	commit := gittest.Run(t, dir, "rev-parse", "HEAD")
	green := s.await("green waits for an approval", waits("web"))
	waitUntil(t, "green answers", func() bool { return get(t, web) == "hello from v2\n" })

	// Two pods of the primary, one of each other variant, and the Service knows no difference.
	compared := s.await("canary and baseline wait for an approval", waits("shop"))
	waitUntil(t, "all variants answer", func() bool { return len(tally(t, shop, 20)) == 3 })
	const asked = 200
	shares := tally(t, shop, asked)
	t.Logf("answers of shop: %v", shares)
	require.Len(t, shares, 3, "%v", shares)
	for answer, share := range map[string]float64{"v1 at primary": 0.5, "v2 at canary": 0.25, "v1 at baseline": 0.25} {
		require.InDelta(t, share*asked, shares[answer], asked*0.2, "%s of %v", answer, shares)
	}

	for _, waiting := range []event{green, compared} {
		require.Zero(t, e.pipedeck("approve", waiting["id"].(string)).Code)
	}
	for _, app := range []string{"web", "shop"} {
		s.await("version two of "+app+" is everywhere", deployed(app, "SUCCESS", "commit", commit))
	}
	answers := visitors()
	counts := map[string]int{}
	for _, a := range answers {
		counts[a]++
	}
	t.Logf("answers of web: %v", counts)
	require.Equal(t, []string{"hello from v1\n", "hello from v2\n"}, slices.Compact(answers), "%v", counts)
	waitUntil(t, "canary and baseline are gone", func() bool {
		return maps.Equal(tally(t, shop, 20),
			map[string]int{"v2 at primary": 20})
	})

	require.Zero(t, e.pipedeck("down").Code)
	s.wait()
	e.leavesNothing()
}

// tally asks n times and counts the answers by version and variant; what is not an answer of the program counts as it
// is.
func tally(t *testing.T, url string, n int) map[string]int {
	t.Helper()
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	counts := map[string]int{}
	for range n {
		answer := ask(&client, url)
		version, pod, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(answer), "hello from "), " at shop-")
		if !ok {
			counts[answer]++
			continue
		}
		variant, _, _ := strings.Cut(pod, "-")
		if variant != "canary" && variant != "baseline" {
			variant = "primary"
		}
		counts[version+" at "+variant]++
	}
	return counts
}

// visit asks again and again until the returned function is called, which gives the answers in their order; what is not
// an answer of the program is there as an error's text.
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
