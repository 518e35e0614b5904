// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package owned

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserve has the file system set bytes aside behind what is set aside for the file already, unless that is enough. The
// size of the file stays as it is.
func reserve(file *os.File, offset, bytes int64) error {
	var now unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &now); err != nil {
		return err
	}
	const block = 512 // the unit of Blocks
	more := offset + bytes - now.Blocks*block
	if more <= 0 {
		return nil
	}
	return unix.FcntlFstore(file.Fd(), unix.F_PREALLOCATE,
		&unix.Fstore_t{Flags: unix.F_ALLOCATEALL, Posmode: unix.F_PEOFPOSMODE, Length: more})
}
