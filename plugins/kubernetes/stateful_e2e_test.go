// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const statefulYAML = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 3
  podManagementPolicy: Parallel
  serviceName: peers
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec: {containers: [{name: main, image: "db:v1", envFrom: [{secretRef: {name: login}}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: peers}
spec: {clusterIP: None, selector: {app: db}, ports: [{port: 7000}]}
---
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {user: VALUE}
`

func TestAStatefulSetHasACanaryAndABaseline(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	a.settings += "}\n      workloads: [{kind: StatefulSet}]\n      variantLabel: {key: example.com/role"
	one := &commit{Hash: "aaaaaaa1", Files: map[string]string{"all.yaml": strings.Replace(statefulYAML, "VALUE", "a",
		1)}}
	two := &commit{Hash: "aaaaaaa2", Files: map[string]string{"all.yaml": strings.NewReplacer("VALUE", "b", "db:v1",
		"db:v2").Replace(statefulYAML)}}
	a.succeeds("K8S_SYNC", `{"addVariantLabelToSelector": true}`, one, nil)
	log := a.succeeds("K8S_CANARY_ROLLOUT", `{"replicas": "50%"}`, two, one)
	require.Contains(t, log, "2 of 2 ready")
	a.succeeds("K8S_BASELINE_ROLLOUT", `{}`, two, one)
	a.golden("stateful-variants")
	log = a.succeeds("K8S_CANARY_CLEAN", "{}", two, one)
	require.Contains(t, log, "3 resources deleted")
	a.absent(statefulSets, "db-canary")
	a.succeeds("K8S_BASELINE_CLEAN", "{}", two, one)
	a.absent(statefulSets, "db-baseline")
	a.get(statefulSets, "db")
}
