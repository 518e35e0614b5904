// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package kind provides clusters of kind, Kubernetes in containers, by kind's own library. The
// engine that runs the containers is Docker, Podman or nerdctl.
//
// A record in the cluster's directory is written before anything is made and is the only proof that
// a cluster is ours: what no record names is neither adopted nor removed, and what one names is
// removed from the record alone, also after this process was killed. A creation that ends early
// leaves nothing behind.
package kind
