// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package trigger decides which application is due for a deployment, and creates the deployment.
//
// It follows the repositories: every move of a branch is compared with what was deployed last, and the
// application configurations at the new commit are reported to the control plane, which registers new
// ones. It answers users' and chains' requests to sync; each gets a deployment or a refusal with the reason,
// never silence. An application whose configuration cannot be read gets no deployment, and its sync state
// says where the mistake is, until a commit fixes it.
//
// It guarantees that an application gets one deployment at a time from one commit, also when piped is
// killed in between: what was deployed last is asked from the control plane. What fails for a passing
// reason is tried again.
//
// The agent makes one Trigger and feeds it with the control plane's news; new deployments go straight to
// the scheduler.
package trigger
