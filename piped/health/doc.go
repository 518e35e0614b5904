// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package health is the one place that knows what does not work in a piped, and why.
//
// A part either says so itself, with Registry.Set and Clear, or is asked each time, as a Source. Every problem has a
// reason and a next step for the user, and goes when its cause is gone. The registry is bounded.
//
// The Reporter sends the problems to the control plane, every 5 s and at each change: it is piped's heartbeat there.
// /healthz and the metrics read the same registry.
package health
