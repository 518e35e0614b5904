// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package portforward makes deployed applications reachable from this machine.
//
// A Forwarder holds listeners on 127.0.0.1, one for each port of an application that someone asked
// for. A connection goes to a ready pod, in turn, by a port-forward through the Kubernetes API; ports
// that speak HTTP are spread over the pods request by request. Watches keep the set of pods current,
// so a forward goes on while pods are replaced: what a pod has not received goes to another one.
//
// Where a cluster on this machine answers for its Services itself, as the embedded one does for pods that run as
// processes, a Forwarder returns that address, which stays the same when the environment is started again.
//
// An environment runs one Forwarder. HTTP is only answered under the names of this machine, so that a
// web page cannot reach a cluster through it by pointing one of its names here.
package portforward
