// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package child

import "syscall"

// limitData has the system refuse memory far above the limit, which a job may take between two looks at it: the
// process ends then. What cannot be limited is still looked at.
func limitData(bytes uint64) {
	limit := syscall.Rlimit{}
	if syscall.Getrlimit(syscall.RLIMIT_DATA, &limit) == nil {
		limit.Cur = min(bytes+mappedReserve, limit.Max)
		_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &limit)
	}
}
