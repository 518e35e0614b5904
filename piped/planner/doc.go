// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package planner turns a pending deployment into a plan: the strategy and why, the versions it brings
// out, and its stages in order.
//
// Every planning ends in a report to the control plane: planned, failed with the true cause, or
// cancelled. Only the end of piped leaves a deployment pending, for the next piped to plan. Calls to
// plugins have a deadline.
//
// The scheduler's Controller calls it, for several applications at once.
//
// A plan that the end of a plugin interrupts starts again once the plugin is back. It has a time limit, after which the
// error says where it was. What plugins answer is bounded: a deployment has at most 1,000 versions.
package planner
