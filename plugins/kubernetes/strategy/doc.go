// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package strategy decides from two sets of manifests whether a change needs the pipeline or may be synced at once, and
// names the versions that a set of manifests brings.
//
// Its functions are pure. The planner's calls use it; the reasons are shown to users.
package strategy
