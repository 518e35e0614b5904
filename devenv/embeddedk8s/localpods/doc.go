// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package localpods runs pods as processes of this machine, as a kubelet runs them in containers: init containers in
// their order, sidecars, restarts with back-off, probes, hooks, environment and volumes, and the time that a deleted
// pod has to end.
//
// Only programs of listed images run (see package programs). A pod runs as a whole or not at all: Suits reports whether
// it can. Each pod has one goroutine, which looks at everything whenever something has changed and decides the next
// step. Nothing is kept outside of the pod's status: a restarted cluster goes on from there, with new processes.
//
// Containers share the machine: its network, its files and its user. A container gets a separate port in PORT, and
// its volumes below POD_ROOT, because nothing can be mounted at an absolute path.
//
// The caller is package kubelet, which writes what Status returns to the API server.
package localpods
