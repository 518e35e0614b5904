// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"fmt"
	"slices"
	"strings"
)

const (
	warningStart = "Warning: "
	// maxWarnings bounds the warnings of one command: providers may write one for each resource.
	maxWarnings = 20
)

// afterWarnings are how lines begin that are not of a warning, where no frame shows its end.
var afterWarnings = []string{"─", errorStart, "OpenTofu used the ", "Terraform used the ", "OpenTofu will perform ",
	"Terraform will perform ", "No changes.", "Plan: ", "Changes to Outputs:", "Note: Objects have changed ",
	"You can apply this plan ", "Saved the plan to: "}

// Warnings returns the warnings in what the program wrote, each with its explanation and without secrets: the first
// ones, and how many more there are.
func (r *Runner) Warnings(output []byte) []string {
	lines := strings.Split(plain(strings.ReplaceAll(string(output), "╵", "─")), "\n")
	var found []string
	inside, more := false, 0
	for _, line := range lines {
		switch {
		case strings.HasPrefix(line, warningStart) && len(found) == maxWarnings:
			inside = false
			more++
		case strings.HasPrefix(line, warningStart):
			inside = true
			found = append(found, line)
		case slices.ContainsFunc(afterWarnings, func(start string) bool { return strings.HasPrefix(line, start) }):
			inside = false
		case inside:
			found[len(found)-1] += "\n" + line
		}
	}
	for i, one := range found {
		found[i] = hide(strings.TrimSpace(one), r.Secrets)
	}
	if more > 0 {
		found = append(found, fmt.Sprintf("and %d more warnings", more))
	}
	return found
}
