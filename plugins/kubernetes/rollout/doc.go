// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package rollout waits until applied workloads are ready, or reports why they will not be.
//
// It watches the workloads and their pods; nothing is polled, except the events of pods that do not start when
// nothing else reports why. Whether a workload is ready follows kstatus. A rollout that cannot succeed ends early: its
// progress deadline passed, an image cannot be pulled, a container keeps crashing, or the API refuses the pods for
// longer than a grace period. Pods of an older revision never count against a rollout, so that a broken version can be
// replaced by a good one.
//
// It changes nothing in the cluster, but for a rollback: there it deletes the pods of the failed version by which a
// StatefulSet would hold it up, because its controller replaces pods in their order and none before all are ready.
//
// The stages call it with what was applied. Progress is reported at most once a second for each workload. It ends at
// once when its context does, and says how far it was.
package rollout
