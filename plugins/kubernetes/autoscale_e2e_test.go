// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	_, details := a.previews(second, first)
	require.Contains(t, details, "example.com/web:2")
	require.NotContains(t, details, "replicas", "a preview shows what the deployment does")
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

func TestTheRulesOfAnAggregatedRoleAreLeftToTheController(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	role := func(note string) *commit {
		return &commit{Hash: "aaaaaaa" + note, Files: map[string]string{"role.yaml": strings.ReplaceAll(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME-all, labels: {note: "`+note+`"}}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {into: NAME}}]}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: NAME-part, labels: {into: NAME}}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
`, "NAME", a.namespace)}}
	}
	roles := schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"}
	all := func() *unstructured.Unstructured {
		o, err := a.live().Dynamic.Resource(roles).Get(t.Context(), a.namespace+"-all", metav1.GetOptions{})
		require.NoError(t, err)
		return o
	}
	t.Cleanup(func() {
		for _, name := range []string{"-all", "-part"} {
			_ = a.live().Dynamic.Resource(roles).Delete(context.Background(), a.namespace+name, metav1.DeleteOptions{})
		}
	})
	a.succeeds("K8S_SYNC", "", role("1"), nil)
	rules := func() []any {
		list, _ := all().Object["rules"].([]any) // null without any
		return list
	}
	require.Eventually(t, func() bool { return len(rules()) == 1 }, time.Minute, 10*time.Millisecond,
		"the controller of the cluster fills the role")

	_, details := a.previews(role("2"), role("1"))
	require.NotRegexp(t, `(?m)^[-+] *(rules|- apiGroups)`, details)
	log := a.succeeds("K8S_SYNC", "", role("2"), role("1"))
	require.NotContains(t, log, "Git wins over")
	require.Equal(t, "2", all().GetLabels()["note"])
	require.Len(t, rules(), 1, "the role never loses what it allows")
}

func (a *app) replicas(name string) int64 {
	a.t.Helper()
	number, _, err := unstructured.NestedInt64(a.get(deployments, name).Object, "spec", "replicas")
	require.NoError(a.t, err)
	return number
}
