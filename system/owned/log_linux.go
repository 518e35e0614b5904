// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserve has the file system set bytes aside from an offset on. The size of the file stays as it is.
func reserve(file *os.File, offset, bytes int64) error {
	return unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_KEEP_SIZE, offset, bytes)
}
