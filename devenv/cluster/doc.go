// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster defines what an environment needs of a Kubernetes cluster, whatever provides it.
//
// Each folder below is one provider. A provider makes or adopts a cluster, writes a kubeconfig,
// and removes only what it made.
package cluster
