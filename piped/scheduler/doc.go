// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package scheduler brings deployments to their end. The Controller decides which deployment is planned
// and run when: one at a time per application, many applications side by side. The Scheduler walks the
// stages of one: skip, timeout, cancel, retry after a plugin's death, rollback.
//
// A stage is one ExecuteStage call. Ended stages are never run again; a stage that was running when piped
// or its plugin died starts again as the next attempt. The end of piped is not the end of a deployment:
// nothing is reported then, and the next piped goes on where this one stopped.
//
// Nothing here waits for a clock where an event will do: the agent submits new deployments and commands
// as they arrive.
package scheduler
