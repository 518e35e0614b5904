// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package prompt asks users on a terminal.
package prompt

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/term"
)

// Secret asks on a terminal, by its file descriptor, for a line that is not shown. When ctx ends, the terminal is as it
// was before; the read goes on until the program ends.
func Secret(ctx context.Context, terminal int, prompt io.Writer, label string) ([]byte, error) {
	before, err := term.GetState(terminal)
	if err != nil {
		return nil, err
	}
	type line struct {
		text []byte
		err  error
	}
	read := make(chan line, 1)
	fmt.Fprint(prompt, label+": ")
	go func() {
		text, err := term.ReadPassword(terminal)
		read <- line{text, err}
	}()
	defer fmt.Fprintln(prompt)
	select {
	case got := <-read:
		return got.text, got.err
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), term.Restore(terminal, before))
	}
}
