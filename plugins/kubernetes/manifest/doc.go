// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package manifest loads Kubernetes manifests from a checked-out application and stamps them with the labels and
// annotations by which a deployment's resources are found again.
//
// Manifests come from plain files or from kustomize, which runs inside the process. Nothing outside the checkout is
// read. Keys of a YAML map are always text, also `n` and `y`. A mistake in a file is an error with file and line.
//
// The stages and the planner call it; it never talks to a cluster.
package manifest
