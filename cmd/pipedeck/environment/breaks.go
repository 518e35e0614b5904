// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/term"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/piped/breakpoint"
)

// checkBreaks checks the breakpoints of --break; piped is that of --piped, empty for the included one.
func checkBreaks(breaks []string, piped string) error {
	if len(breaks) == 0 {
		return nil
	}
	if piped != "" {
		return exit.Usage(errors.New("--break needs the included piped"), "leave out --piped or --break")
	}
	if _, err := breakpoint.Parse(breaks); err != nil {
		return exit.Usage(fmt.Errorf("--break: %w", err),
			"write it like: --break 'before WAIT'; more is in docs/breakpoints.md")
	}
	return nil
}

// checkBreaksInCI refuses breakpoints where no user could go on after one.
func checkBreaksInCI(breaks []string) error {
	if len(breaks) == 0 || term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd())) {
		return nil
	}
	return exit.Usage(errors.New("--break in ci needs a terminal: without one, no one goes on after a breakpoint"),
		"leave out --break, or use: pipedeck up")
}

// breakpointsOf are those of --break, which have been checked.
func breakpointsOf(breaks []string) (list []*deckv1.Breakpoint) {
	parsed, err := breakpoint.Parse(breaks)
	if err != nil {
		return nil
	}
	for _, b := range parsed {
		list = append(list, &deckv1.Breakpoint{
			When: deckv1.Breakpoint_When(b.GetWhen()), Application: b.GetApplication(), Stage: b.GetStage(),
		})
	}
	return list
}
