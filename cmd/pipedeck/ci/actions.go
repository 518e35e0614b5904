// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"errors"
	"fmt"
	"strings"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

// Actions are what a run does for stages that wait.
type Actions struct {
	// Approve approves stages: as each named approver, or as As when that is not empty.
	Approve bool
	As      string
	// FastWait ends WAIT stages at once.
	FastWait bool
}

// ParseActions reads --approve and --wait.
func ParseActions(approve, wait string) (Actions, error) {
	var a Actions
	name, isName := strings.CutPrefix(approve, "as:")
	name = strings.TrimSpace(name)
	switch {
	case approve == "never":
	case approve == "auto":
		a.Approve = true
	case isName && name != "":
		a.Approve, a.As = true, name
	case isName:
		return a, exit.Usage(errors.New("--approve as: names no one"), "for example --approve as:alice")
	default:
		return a, exit.Usage(fmt.Errorf("--approve %q is unknown", approve), "use auto, as:NAME or never")
	}
	switch wait {
	case "full":
	case "fast":
		a.FastWait = true
	default:
		return a, exit.Usage(fmt.Errorf("--wait %q is unknown", wait), "use fast or full")
	}
	return a, nil
}
