// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"io"

	"golang.org/x/term"
)

// Terminal returns the descriptor of the terminal that a writer prints on, if it does: the writer is a file, or stands
// in for one.
func Terminal(w io.Writer) (descriptor int, is bool) {
	file, ok := w.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return 0, false
	}
	return int(file.Fd()), true
}
