// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package scheduler brings deployments to their end. The Controller decides which deployment is planned
// and run when: one at a time per application, many applications side by side. The Scheduler walks the
// stages of one: skip, timeout, cancel, retry after a plugin's death, rollback.
//
// A stage is one ExecuteStage call. It starts when all the stages that it requires have succeeded or were
// skipped; stages that do not require each other run side by side, a bounded number at a time. Their
// attempts are recorded at the control plane before the call. Ended stages are never run again; a stage
// that was running when piped or its plugin died starts again as the next attempt. The end of piped is not
// the end of a deployment: nothing is reported then, and the next piped goes on where this one stopped.
//
// A stage that fails stops the others at once, as a cancellation does, and they are reported as
// cancelled: a rollback must not wait for an approval or a wait that runs next to it. (Spinnaker does the
// same; build tools let the others end.) A stage that exits only keeps new ones from starting, because nothing
// is wrong with those that run. The rollback begins when no stage runs any more. Its stages run one after
// another by index, together only where the configuration lets the stages that they undo run side by side.
//
// A cancel wins over a stage that finishes while it arrives: the stage keeps its status, no other one starts,
// and the deployment is cancelled.
//
// Nothing here waits for a clock where an event will do: the agent submits new deployments and commands
// as they arrive.
package scheduler
