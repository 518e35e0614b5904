// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"errors"
	"io"
	"os"
)

// input is the standard input of a container. A nil input is an empty one.
type input struct {
	reader, writer *os.File
}

func newInput(wanted bool) (*input, error) {
	if !wanted {
		return nil, nil
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &input{reader, writer}, nil
}

// giveAway closes the end that the container has by now, so that writing fails when it has ended.
func (i *input) giveAway() {
	if i != nil {
		_ = i.reader.Close()
	}
}

// close ends the input. What blocks in writing to it returns.
func (i *input) close() error {
	if i == nil {
		return nil
	}
	if err := i.writer.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// Stdin is the standard input of the container, nil when its Spec asked for none. Closing it ends the input.
func (p *Process) Stdin() io.WriteCloser {
	if p.input == nil {
		return nil
	}
	return p.input.writer
}
