// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import "syscall"

// endWithHost makes a process end with this one.
func endWithHost(attributes *syscall.SysProcAttr) *syscall.SysProcAttr {
	attributes.Pdeathsig = syscall.SIGKILL
	return attributes
}
