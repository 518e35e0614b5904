// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package controllers runs the controllers of kube-controller-manager that matter without containers, each the real
// one.
//
// They are constructed directly: kube-controller-manager's own command installs signal handling that ends the program.
// Left out on purpose: node lifecycle, taint eviction, node IPAM and attach-detach (the one node is simulated and never
// sick), volumes (package claims), certificates. All of them speak as the cluster administrator and without a
// client-side rate limit, since server and clients are one process.
package controllers
