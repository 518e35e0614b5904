// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package store

// KeptPerApplication and KeptDeployments are how many completed deployments are kept by default: of one application,
// and of all of them.
const (
	KeptPerApplication = 200
	KeptDeployments    = 1000
)

// Limits bounds what the store keeps. A zero field means its default.
type Limits struct {
	// Completed deployments kept for one application, and for all of them.
	DeploymentsPerApplication, Deployments int
	// Deployments that have not ended; more are refused.
	OpenDeployments int
	// Bytes of one deployment, with its plan and metadata; what would take it beyond is refused. At most a third of
	// what fits into a message to piped (10 MiB), and less than what pipectl takes (4 MiB).
	DeploymentBytes int
	// Bytes of one event, and of one shared object; larger ones are refused.
	EventBytes, SharedObjectBytes int
	// Registered pipeds; more are refused.
	Pipeds int
	// Registered applications of all pipeds together; more are refused. As many deleted ones are remembered.
	Applications int
	// Handled commands kept, and commands waiting for one piped; more waiting ones are refused.
	HandledCommands, WaitingCommands int
	// Events and deployment chains kept.
	Events, Chains int
	// Bytes of one stage's log and of all logs together; the oldest blocks go first.
	StageLogBytes, LogBytes int
	// Present problems; more are not listed.
	Problems int
	// Bytes of all shared objects together, and of all plan preview results kept.
	ObjectBytes, OutputBytes int
	// Watcher bounds the changes that wait for one watcher before it has to start again.
	Watcher Bounds
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		field *int
		value int
	}{
		{&l.DeploymentsPerApplication, KeptPerApplication},
		{&l.Deployments, KeptDeployments},
		{&l.OpenDeployments, 5000},
		{&l.DeploymentBytes, 3 << 20},
		{&l.EventBytes, 64 << 10},
		{&l.SharedObjectBytes, 8 << 20},
		{&l.Pipeds, 1000},
		{&l.Applications, 20_000},
		{&l.HandledCommands, 500},
		{&l.WaitingCommands, 1000},
		{&l.Events, 1000},
		{&l.Chains, 200},
		{&l.Problems, 1000},
		{&l.StageLogBytes, 16 << 20},
		{&l.LogBytes, 64 << 20},
		{&l.ObjectBytes, 64 << 20},
		{&l.OutputBytes, 64 << 20},
		{&l.Watcher.Items, 4096},
		{&l.Watcher.Bytes, 8 << 20},
	} {
		if *d.field == 0 {
			*d.field = d.value
		}
	}
	return l
}
