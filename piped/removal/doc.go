// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package removal holds what trigger, planner and scheduler share about the removal of an application: a separate
// deployment deletes what the application has deployed. It knows the command that asks for it, and the notes by which
// the deployment and the application are recognised.
//
// A control plane that does not know removals runs such a deployment as any other; the application stays registered.
package removal
