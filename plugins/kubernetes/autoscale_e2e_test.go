// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const scalerYAML = `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 1
  maxReplicas: 5
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
`

func TestADeploymentLeavesTheReplicasToTheAutoscaler(t *testing.T) {
	t.Parallel()
	a, first := newApp(t), webCommit()
	first.Files["hpa.yaml"] = scalerYAML
	a.succeeds("K8S_SYNC", "", first, nil)
	require.EqualValues(t, 2, a.replicas("web"), "Git gives the number to begin with")
	a.edit(deployments, "web", `{"spec":{"replicas":4}}`, "scale", "kube-controller-manager")

	second := webCommit()
	second.Hash, second.Files["hpa.yaml"] = "aaaaaaa2", scalerYAML
	second.Files["web.yaml"] = strings.ReplaceAll(second.Files["web.yaml"], "example.com/web:1", "example.com/web:2")
	log := a.succeeds("K8S_SYNC", "", second, first)
	require.EqualValues(t, 4, a.replicas("web"))
	require.NotContains(t, log, "Git wins over spec.replicas")
	require.Contains(t, log,
		"Deployment "+a.namespace+"/web keeps its 4 replicas: an autoscaler sets them, not Git (2)")
	a.becomes(second, "in sync", inSync)

	third := webCommit()
	third.Hash = "aaaaaaa3"
	a.succeeds("K8S_SYNC", `{"prune": true}`, third, second)
	require.EqualValues(t, 2, a.replicas("web"), "without an autoscaler it is Git's number again")
}

func (a *app) replicas(name string) int64 {
	a.t.Helper()
	number, _, err := unstructured.NestedInt64(a.get(deployments, name).Object, "spec", "replicas")
	require.NoError(a.t, err)
	return number
}
