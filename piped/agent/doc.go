// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package agent assembles the parts of a piped and runs them: the one place that knows them all.
//
// The connection to the control plane and the plugins come up side by side; what waits for either says so
// on /healthz. On the way down the order is reversed: deployments stop first, without being reported as
// ended, then the plugins, then the services that plugins call.
//
// Run fails when the control plane refuses the credentials, when a port is taken and when a part cannot
// go on; a plugin that does not start is no such case.
package agent
