// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import "syscall"

// processAttributes put the plugin in its own process group. There is no parent-death signal here:
// the pipe at descriptor 3 does that.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
