// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import "syscall"

// endWithHost does nothing: the system has no signal for the end of a parent.
func endWithHost(attributes *syscall.SysProcAttr) *syscall.SysProcAttr { return attributes }
