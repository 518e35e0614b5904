// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package nodes reads and watches the nodes of a cluster.
//
// It stands in for client-go's package kubernetes and for k8s.io/api, which compile the clients and types of every kind
// of object: 22 MB of source for the one that the provider for kind needs.
package nodes
