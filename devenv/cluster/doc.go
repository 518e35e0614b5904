// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster defines what an environment needs of a Kubernetes cluster, whatever provides it.
//
// A provider creates or adopts a cluster, writes a kubeconfig, and removes only what it created. The providers have the
// same files, so that a diff of two folders shows their difference: provider.go (New, Describe), run.go (Run),
// images.go (LoadImage) and remove.go (Delete). auto chooses among them, and none stands for no cluster.
package cluster
