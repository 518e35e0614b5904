// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e && kind

package e2e

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// kindPace leaves the other stories their share of the machine: a request passes the API server, the kubelet and
// containerd.
const kindPace = 50 * time.Millisecond

// crashingCanary has a canary that is approved only by who has not seen it crash.
const crashingCanary = `  pipeline:
    stages:
      - {name: K8S_CANARY_ROLLOUT, with: {replicas: 50%}}
      - {name: WAIT_APPROVAL, with: {minApproverNum: 1}}
      - {name: K8S_PRIMARY_ROLLOUT}
      - {name: K8S_CANARY_CLEAN}
`

// requestsStory asks three applications through `pipedeck open`, each with several clients. The new versions of two
// crash under the requests: the canary of one, pods of the primary of the other. Each answers for a while before each
// crash, and each crash breaks the requests that are under way. The canary of the third breaks every request and stays
// ready, until a user cancels.
func requestsStory() kindStory {
	files := map[string]string{}
	for app, pipeline := range map[string]string{"canary": crashingCanary, "rolling": "", "silent": crashingCanary} {
		maps.Copy(files, kindApplication(app, pipeline))
		files[app+"/deployment.yaml"] = strings.Replace(files[app+"/deployment.yaml"], "replicas: 1", "replicas: 2", 1)
	}
	return kindStory{files, func(c *tenant) {
		apps := []string{"canary", "rolling", "silent"}
		urls, crowds := map[string]string{}, map[string]*crowd{}
		for _, app := range apps {
			c.await("version one of "+app+" is deployed", deployed(app, "SUCCESS"))
			urls[app] = c.open(app)
			crowds[app] = newCrowdAt(c.t, urls[app], kindPace)
		}
		atLeast := map[string]int64{"canary": 1000, "rolling": 500, "silent": 300}
		commits := map[string]string{}
		for _, app := range []string{"canary", "rolling"} {
			// Pods count as available long after they get requests, so that no stage takes an early answer for success.
			commits[app] = c.replace(app+"/deployment.yaml", "value: v1", "value: v2", `LIMIT, value: "0"`,
				`LIMIT, value: "20"`, "minReadySeconds: 0", "minReadySeconds: 300")
		}
		commits["silent"] = c.replace("silent/deployment.yaml", "value: v1", "value: v2", `ABORT, value: ""`,
			`ABORT, value: "true"`)
		c.await("the canary of silent waits for an approval", waits("silent"))
		crowds["silent"].asks(c.t, 150)
		require.Zero(c.t, c.pipedeck("cancel", "silent", "--rollback").Code)

		for app, status := range map[string]string{"canary": "FAILURE", "rolling": "FAILURE", "silent": "CANCELLED"} {
			ended := c.await(app+" ends", deployed(app, status, "commit", commits[app]))
			if status == "FAILURE" {
				c.await("the crash of "+app+" is in the log", saysOf(ended, "last exit code 7"))
			}
			c.await(app+" is rolled back", func(e event) bool {
				return e.is("stage", "app", app, "name", "K8S_ROLLBACK", "status", "SUCCESS")
			})
			crowds[app].asks(c.t, atLeast[app])
		}
		for app, answering := range map[string][]string{
			"canary": {"v1", "v2"}, "rolling": {"v1", "v2"}, "silent": {"v1"},
		} {
			requireAnswersOf(c.t, app, crowds[app].leave(), answering)
			require.Equal(c.t, map[string]int{"v1": 100}, versions(urls[app], 100), app)
		}
	}}
}

// requireAnswersOf demands that each request was answered, by one of the versions, each of which has answered, and the
// last of each client by version one.
func requireAnswersOf(t *testing.T, app string, answers [][]string, answering []string) {
	t.Helper()
	counts := tallied(answers)
	t.Logf("requests for %s: %v", app, counts)
	require.Equal(t, answering, slices.Sorted(maps.Keys(counts)), "%s: %v", app, counts)
	for i, ofOne := range answers {
		require.Equal(t, "v1", version(ofOne[len(ofOne)-1]), "client %d of %s", i, app)
	}
}
