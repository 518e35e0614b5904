// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var jobs = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}

// hookJob is a Job that is a hook.
func hookJob(name, hook string) string {
	return "apiVersion: batch/v1\nkind: Job\nmetadata: {name: " + name + ", annotations: {" + hook + "}}\n" +
		"spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: 'app:v1'}]}}}\n"
}

func TestHooksRunOnceInEachCluster(t *testing.T) {
	t.Parallel()
	f := newFleet(t, fleetTarget{name: "tokyo"}, fleetTarget{name: "london"})
	f.pipeline = `  pipeline:
    stages:
      - {name: K8S_MULTI_CANARY_ROLLOUT, with: {multiTargets: [tokyo]}}
      - {name: K8S_MULTI_PRIMARY_ROLLOUT}
      - {name: K8S_MULTI_CANARY_CLEAN, with: {multiTargets: [tokyo]}}
      - {name: K8S_MULTI_TEST}
`
	c := &commit{Hash: "aaaaaaa1", Files: map[string]string{
		"web.yaml":    deploymentYAML("app:v1"),
		"before.yaml": hookJob("before", "argocd.argoproj.io/hook: PreSync"),
		"after.yaml":  hookJob("after", "argocd.argoproj.io/hook: PostSync"),
		"test.yaml":   hookJob("check", "helm.sh/hook: test"),
	}}
	f.succeedsAt(0, "K8S_MULTI_CANARY_ROLLOUT", `{"multiTargets": ["tokyo"]}`, c)
	before := f.has("tokyo", jobs, "before").GetUID()
	f.hasNot("london", jobs, "before")
	log := f.succeedsAt(1, "K8S_MULTI_PRIMARY_ROLLOUT", "{}", c)
	require.Contains(t, log, "[tokyo] The hooks before the rollout have run in this deployment")
	require.Contains(t, log, "[london] Running 1 hook before the rollout: Job before")
	require.Contains(t, log, "[london] Running 1 hook after the rollout: Job after")
	require.NotContains(t, log, "[tokyo] Running 1 hook after", "another stage changes this cluster")
	f.hasNot("tokyo", jobs, "after")
	f.succeedsAt(2, "K8S_MULTI_CANARY_CLEAN", `{"multiTargets": ["tokyo"]}`, c)
	f.has("tokyo", jobs, "after")
	require.Equal(t, before, f.has("tokyo", jobs, "before").GetUID())
	f.hasNot("london", jobs, "check")
	f.succeedsAt(3, "K8S_MULTI_TEST", "{}", c)
	f.has("tokyo", jobs, "check")
	f.has("london", jobs, "check")
}

// succeedsAt runs the stage at a position of the first deployment's pipeline, and gives its log.
func (f *fleet) succeedsAt(index int32, stage, options string, c *commit) string {
	f.t.Helper()
	f.index = index
	log, _ := f.succeeds(stage, options, c, nil)
	return log
}
