// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package rollout waits until applied workloads are ready, or tells why they will not be.
//
// It watches the workloads and their pods; nothing is polled. Whether a workload is ready follows kstatus. A rollout that
// cannot succeed ends early: its progress deadline passed, an image cannot be pulled, or a container keeps crashing for
// longer than a grace period. Pods of an older revision never count against a rollout, so that a broken version can be
// replaced by a good one.
//
// The stages call it with what was applied. It ends at once when its context does.
package rollout
