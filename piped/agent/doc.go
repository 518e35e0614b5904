// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package agent assembles the parts of a piped and runs them: the one place that knows them all.
//
// The connection to the control plane and the plugins start at the same time; /healthz shows which of them is not ready
// yet. The end has an order: deployments stop first, without being reported as ended, then the plugins together with
// the service that they call.
//
// Run fails when the control plane refuses the credentials, when a port is taken and when a part cannot go on. It does
// not fail when a plugin does not start: that is a problem of the piped, which it reports.
package agent
