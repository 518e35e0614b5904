// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/piped/fault"
)

// checkFaults checks the rules of --fault; piped is that of --piped, empty for the included one.
func checkFaults(rules []string, piped string) error {
	if len(rules) == 0 {
		return nil
	}
	if piped != "" {
		return exit.Usage(errors.New("--fault needs the included piped"), "leave out --piped or --fault")
	}
	for _, rule := range rules {
		if strings.Contains(rule, "\n") {
			return exit.Usage(fmt.Errorf("--fault %q has several lines", rule), "give --fault once for each rule")
		}
	}
	if _, err := fault.Parse(rules); err != nil {
		return exit.Usage(fmt.Errorf("--fault: %w", err),
			"write it like: --fault 'WAIT: kill@log 3; delay 5s'; all actions are in docs/faults.md")
	}
	return nil
}
