// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWarningsAreFoundBeforeAndAfterThePlan(t *testing.T) {
	t.Parallel()
	const output = `
Warning: Deprecated attribute

  on main.tf line 4, in output "x":
   4:   value = hunter22

The attribute is deprecated.

OpenTofu used the selected providers to generate the following execution
plan.

  # terraform_data.a will be created

Plan: 1 to add, 0 to change, 0 to destroy.

Warning: Resource targeting is in effect

You are creating a plan with -target.

Not for routine use.

─────────────────────────────────────────────────────────────────────────────

Saved the plan to: x.tfplan
`
	r := &Runner{Secrets: []string{"hunter22"}}
	want := []string{
		"Warning: Deprecated attribute\n\n  on main.tf line 4, in output \"x\":\n   4:   value = (sensitive " +
			"value)\n\nThe attribute is deprecated.",
		"Warning: Resource targeting is in effect\n\nYou are creating a plan with -target.\n\nNot for routine use.",
	}
	require.Equal(t, want, r.Warnings([]byte(output)))
	require.Equal(t, []string{"Warning: one\n\nIn a frame."},
		r.Warnings([]byte("╷\n│ Warning: one\n│ \n│ In a frame.\n╵\nterraform_data.a: Refreshing\n")))
	require.Empty(t, r.Warnings([]byte("No changes. It matches.\n\nThe text Warning: is not one.\n")))

	many := r.Warnings([]byte(strings.Repeat("Warning: again\n\n", maxWarnings+3)))
	require.Len(t, many, maxWarnings+1)
	require.Equal(t, "and 3 more warnings", many[maxWarnings])
}
