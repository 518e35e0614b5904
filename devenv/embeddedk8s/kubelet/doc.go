// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package kubelet plays the scheduler and the kubelet of a cluster without containers.
//
// It registers one node, binds every pending pod to it, and writes the status a kubelet would write. A pod whose images
// are all listed runs as processes of this machine (package localpods) and carries LocalKey. Every other pod is
// simulated: running and ready, finished for the pods of Jobs, or failing in a way the user asked for (see Mode). No
// image is pulled; images that are built on this machine have to be loaded first, as into any node: its status lists
// them. The node and simulated pods carry SimulatedKey so that no one takes them for real. Package kubeletapi serves
// the kubelet's HTTPS API.
//
// It is driven by informers: nothing is polled, and the only timers are those of a simulated back-off. What it knows is
// in the API server, so it may be killed at any time. An update that fails is tried again with back-off.
package kubelet
