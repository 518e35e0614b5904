// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command kubernetes is the plugin that deploys Kubernetes manifests.
//
// It owns the stages K8S_SYNC, K8S_PRIMARY_ROLLOUT, K8S_CANARY_ROLLOUT, K8S_CANARY_CLEAN, K8S_BASELINE_ROLLOUT,
// K8S_BASELINE_CLEAN, K8S_TRAFFIC_ROUTING, K8S_TEST and K8S_ROLLBACK. Manifests come from plain files, kustomize or a
// Helm chart, are sent with server-side apply, and a stage ends only when its workloads are ready (or shows why they
// cannot be). Hooks of Helm and Argo CD run once in a deployment, before, in or after its rollout. The process starts
// without touching a cluster; a stage waits for an API that is not up yet.
//
// The piped agent starts it. It fails to start only when its arguments or its own configuration cannot be read.
package main
