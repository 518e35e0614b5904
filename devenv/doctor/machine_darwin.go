// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

// engineElsewhere says that the engine runs in a virtual machine, with its own disk and memory.
const engineElsewhere = true

const (
	moreMemory      = "give the container engine's machine more memory in its settings, or ask for fewer clusters"
	bringUpLoopback = "sudo ifconfig lo0 up"
)
