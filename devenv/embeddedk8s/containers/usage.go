// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import "errors"

// ErrUnmeasured says that this system does not report what processes use.
var ErrUnmeasured = errors.New("the use of processors and memory is not measured on this system")

// Usage is what a process group uses.
type Usage struct {
	// CPU is the time that its processes have used so far, in nanoseconds. That of a process which ended while its
	// parent was not waiting for it is missing.
	CPU int64
	// Memory is what its processes have in memory now, in bytes. Pages that several of them share count for each.
	Memory int64
}
