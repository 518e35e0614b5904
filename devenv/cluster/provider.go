// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import "context"

// Kind names a provider as the --cluster flag does.
type Kind string

// The kinds of clusters that exist in this version.
const (
	None     Kind = "none"
	Embedded Kind = "embedded"
)

// Progress tells how far Run is before it calls ready. Total is 0 when the end is not known.
type Progress func(detail string, done, total int64)

// Provider makes one cluster available to one environment.
type Provider interface {
	// Describe says what kind of cluster it is, without making one.
	Describe() Description
	// Run makes or adopts the cluster, calls ready with a line about it once its API answers, and
	// keeps it up until ctx ends. Before it returns it has stopped what it started; the data
	// stays for the next Run. An error before ready means that there is no cluster; one after
	// it that the cluster was lost.
	Run(ctx context.Context, progress Progress, ready func(detail string)) error
	// Delete removes the cluster's data. The caller has ended Run.
	Delete(ctx context.Context) error
}

// Description is what users are told about a cluster.
type Description struct {
	Kind Kind
	// Simulated is true when no container runs.
	Simulated bool
	// Kubeconfig is a file that reaches the cluster; empty when there is none.
	Kubeconfig string
}
