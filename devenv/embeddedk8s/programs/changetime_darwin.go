// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"io/fs"
	"syscall"
	"time"
)

// changeTime is when content or status of a file changed last.
func changeTime(info fs.FileInfo) time.Time {
	at := info.Sys().(*syscall.Stat_t).Ctimespec
	return time.Unix(at.Unix())
}
