// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package prompt

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// ErrNoTerminal says that no one can be asked.
var ErrNoTerminal = errors.New("there is no terminal to ask a question on")

// Confirm asks a question that y or yes answers with true, and everything else with false. The error is ErrNoTerminal
// when in is not a terminal, and the error of ctx when that ends first; the read goes on until the program ends then.
func Confirm(ctx context.Context, in io.Reader, out io.Writer, question string) (bool, error) {
	if file, ok := in.(*os.File); !ok || !term.IsTerminal(int(file.Fd())) {
		return false, ErrNoTerminal
	}
	fmt.Fprint(out, question+"? [y/N] ")
	read := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(in).ReadString('\n') // no answer is a no
		read <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case answer := <-read:
		return answer == "y" || answer == "yes", nil
	case <-ctx.Done():
		fmt.Fprintln(out)
		return false, ctx.Err()
	}
}
