// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"io"

	"github.com/pipedeck/pipedeck/devenv/embeddedk8s/containers"
)

// stdin is the standard input of a container for a client: nil for none. It ends with the first client when the
// manifest says stdinOnce, else with the container.
func stdin(process *containers.Process, once bool) io.WriteCloser {
	input := process.Stdin()
	if input == nil || once {
		return input
	}
	return staysOpen{input}
}

// staysOpen is a writer that no client closes.
type staysOpen struct{ io.Writer }

// Close does nothing.
func (staysOpen) Close() error { return nil }
