// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import "golang.org/x/sys/unix"

// noExec is the flag of a file system whose programs cannot be started.
const noExec = unix.MNT_NOEXEC
