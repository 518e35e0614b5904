// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What OpenTofu writes when an apply fails: progress on standard output, errors with their frames after it.
const appliedInPart = `terraform_data.first: Creating...
terraform_data.first: Provisioning with 'local-exec'...
╷
│ Error: local-exec provisioner error
│ 
│   with terraform_data.first,
│   on network/main.tf line 4, in resource "terraform_data" "first":
│    4:   provisioner "local-exec" { command = "echo boom; exit 1" }
│ 
│ Error running command 'echo boom; exit 1': exit status 1. Output: boom
│ 
╵
╷
│ Error: creating the second
│ 
│   with terraform_data.second,
╵
`

func TestTheFirstErrorOfTheProgramIsTheReason(t *testing.T) {
	t.Parallel()
	const line = "apply failed: Error: local-exec provisioner error (network/main.tf:4): Error running command " +
		"'echo boom; exit 1': exit status 1. Output: boom (and 1 more in the log)"
	shown := &Failure{Command: "apply", Said: appliedInPart, Shown: true}
	require.EqualError(t, shown, line, "the log has the rest")
	hidden := &Failure{Command: "apply", Said: appliedInPart}
	require.Equal(t, line+"\n"+strings.TrimSpace(plain(appliedInPart)), hidden.Error())
}

func TestErrorsOfTheProgramComeInSeveralForms(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"":                           "init failed: exit code 1",
		"one\ntwo\n":                 "init failed: two",
		"\nError: no such thing\n":   "init failed: Error: no such thing",
		"busy\nError: no such thing": "init failed: Error: no such thing",
		"Error: Unsupported argument\n\n  on main.tf line 2:\n   2:   colour = 1\n\nAn argument named \"colour\" is " +
			"not expected here.\nMore.\n": "init failed: Error: Unsupported argument (main.tf:2): An argument named " +
			"\"colour\" is not expected here.",
		"Error: Failed to load state\n\nError loading the state: could not connect to the server of the " +
			"backend at\nhttps://example.org/a/long/path?x=1 within 10 s\nMore.\n": "init " +
			"failed: Error: Failed to load state: Error loading the state: could not connect to the server of the " +
			"backend at https://example.org/a/long/path?x=1 within 10 s",
		"│ Error: Invalid name\n│ \n│ The workspace name \"a b\" is not allowed. The name must contain only URL\n" +
			"│ safe characters, and no path separators.\n╵\n": "init failed: Error: Invalid name: The workspace name " +
			"\"a b\" is not allowed. The name must contain only URL safe characters, and no path separators.",
		"│ Error: a long summary that\n│ goes on\n│ \n│   on a b.tf line 12, in variable \"x\":\n╵\n": "init failed: " +
			"Error: a long summary that goes on (a b.tf:12)",
	} {
		require.EqualError(t, &Failure{Command: "init", How: "exit code 1", Said: said, Shown: true}, want)
	}
}
