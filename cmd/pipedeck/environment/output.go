// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"errors"
	"fmt"
	"os"
	"time"

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

// line returns a line about what comes before the events: with the time in plain output, as each event has it.
func (m OutputMode) line(now time.Time, text string) string {
	if m != outputPlain {
		return text
	}
	return now.Local().Format("15:04:05.000") + "  " + text
}

// outputHelp describes --output of the commands that can show the UI.
const outputHelp = "tui, plain, reader (sentences), json (one event a line); auto: $PIPEDECK_OUTPUT, " +
	"else tui on a terminal, plain elsewhere"

// ChooseOutput reads --output. auto is what PIPEDECK_OUTPUT says; without it, tui on a terminal where a command can
// show it, else plain.
func ChooseOutput(given string, canTUI bool) (OutputMode, error) {
	// A dumb terminal cannot place a cursor.
	onTerminal := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) &&
		os.Getenv("TERM") != "dumb"
	source := "--output"
	if wanted := os.Getenv("PIPEDECK_OUTPUT"); given == "auto" && wanted != "" {
		given, source = wanted, "PIPEDECK_OUTPUT"
		if wanted == string(outputTUI) {
			given = "auto" // wherever it can be shown: a script has no terminal
		}
	}
	switch mode := OutputMode(given); {
	case given == "auto" && canTUI && onTerminal:
		return outputTUI, nil
	case given == "auto":
		return outputPlain, nil
	case mode == outputTUI && canTUI && !onTerminal:
		return "", exit.Usage(errors.New("there is no terminal that can be drawn on"), "use --output plain")
	case mode == outputTUI && canTUI, mode == outputPlain, mode == outputReader, mode == outputJSON:
		return mode, nil
	case mode == outputTUI:
		return "", exit.Usage(fmt.Errorf("%s tui is for commands that show the terminal UI", source),
			"use plain, reader or json")
	case canTUI:
		return "", exit.Usage(fmt.Errorf("%s %q is unknown", source, given), "use tui, plain, reader or json")
	default:
		return "", exit.Usage(fmt.Errorf("%s %q is unknown", source, given), "use plain, reader or json")
	}
}
