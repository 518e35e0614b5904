// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

// OutputMode is how events are shown.
type OutputMode string

const (
	outputTUI    OutputMode = "tui"
	outputPlain  OutputMode = "plain"
	outputReader OutputMode = "reader"
	outputJSON   OutputMode = "json"
)

// ChooseOutput reads --output; auto means tui only where a command can show it and on a terminal.
func ChooseOutput(given string, canTUI bool) (OutputMode, error) {
	// A dumb terminal cannot place a cursor.
	onTerminal := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) &&
		os.Getenv("TERM") != "dumb"
	switch mode := OutputMode(given); {
	case given == "auto" && canTUI && onTerminal:
		return outputTUI, nil
	case given == "auto":
		return outputPlain, nil
	case mode == outputTUI && !onTerminal:
		return "", exit.Usage(errors.New("there is no terminal that can be drawn on"), "use --output plain")
	case mode == outputTUI && canTUI, mode == outputPlain, mode == outputReader, mode == outputJSON:
		return mode, nil
	default:
		return "", exit.Usage(fmt.Errorf("--output %q is unknown", given), "use tui, plain, reader or json")
	}
}
