// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Command kubernetes_multicluster is the plugin that deploys Kubernetes manifests to several clusters at once.
//
// It owns the stages K8S_MULTI_SYNC, K8S_MULTI_PRIMARY_ROLLOUT, K8S_MULTI_CANARY_ROLLOUT, K8S_MULTI_CANARY_CLEAN,
// K8S_MULTI_BASELINE_ROLLOUT, K8S_MULTI_BASELINE_CLEAN, K8S_MULTI_TRAFFIC_ROUTING, K8S_MULTI_TEST and
// K8S_MULTI_ROLLBACK. At each deploy target a stage does what the plugin kubernetes does in its one cluster: the
// packages of that plugin do the work. What is here chooses the targets of a stage, runs it at several of them at the
// same time, and judges from the results of the targets whether it has succeeded. A target that fails stops no other
// one.
//
// The piped agent starts it. It fails to start only when its arguments or its own configuration cannot be read.
package main
