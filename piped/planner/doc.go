// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package planner turns a pending deployment into a plan: the strategy and why, the versions it brings
// out, and its stages in order.
//
// A plan is reported to the control plane. When there is none, Plan reports nothing and returns the cause, which the
// caller reports: failed or cancelled. When piped ends, the deployment stays pending for the next piped.
//
// The scheduler's Controller calls it, for several applications at once; package planpreview asks it for plans that
// are not reported.
//
// A plan that the end of a plugin interrupts starts again once the plugin is back. It has a time limit, after which the
// error says where it was. What plugins answer is bounded: a deployment has at most 1,000 versions.
package planner
