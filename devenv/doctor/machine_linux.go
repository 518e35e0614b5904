// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

// engineElsewhere says that the engine runs in a virtual machine, with its own disk and memory.
const engineElsewhere = false

const (
	moreMemory      = "end programs that you do not need, or ask for fewer clusters"
	bringUpLoopback = "sudo ip link set lo up"
)
