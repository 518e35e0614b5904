// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster connects to Kubernetes APIs.
//
// A Pool gives a Client for a deploy target: it waits, within a bound and as long as its context lives, for a
// kubeconfig that is not written yet or an API that does not answer yet, and says so once. Clients are kept for as long
// as the kubeconfig's content stays the same; a bounded number of them. A credential that is refused is an error at
// once.
//
// OutlastRestarts makes the requests of a stage survive a restart of the API server. The transport of a client does
// that, so that it holds for each request, those of discovery included.
//
// WithFaults has the faults happen in the requests of a stage that a user wants to see there.
//
// Follow is how the rest of the plugin looks at changing objects: a list, then a watch, never a poll.
package cluster
