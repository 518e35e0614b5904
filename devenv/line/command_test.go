// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package line_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/line"
)

func TestCommandsForUsersNameTheirEnvironment(t *testing.T) {
	t.Parallel()
	const flags = " --name demo --state-dir /tmp/x"
	for text, want := range map[string]string{
		"see pipedeck status":                "see pipedeck status --name demo --state-dir /tmp/x",
		"run: pipedeck restart wait":         "run: pipedeck restart --name demo --state-dir /tmp/x wait",
		"run pipedeck up again: it adopts":   "run pipedeck up --name demo --state-dir /tmp/x again: it adopts",
		"run pipedeck down; pipedeck up":     "run pipedeck down" + flags + "; pipedeck up" + flags,
		"start one with `pipedeck sync web`": "start one with `pipedeck sync --name demo --state-dir /tmp/x web`",
		"see it with: pipedeck attach; or choose another --name": "see it with: pipedeck attach" + flags +
			"; or choose another --name",
		"run again: pipedeck down" + flags:         "run again: pipedeck down" + flags,
		"run pipedeck down --name NAME for each":   "run pipedeck down --name NAME for each",
		"see pipedeck up --help for --cluster":     "see pipedeck up --help for --cluster",
		"build pipedeck again: make build":         "build pipedeck again: make build",
		"pipedeck plugin install wait":             "pipedeck plugin install wait",
		"see the stage: pipedeck break show":       "see the stage: pipedeck break show" + flags,
		"run: pipedeck plugin detach greeter":      "run: pipedeck plugin detach" + flags + " greeter",
		"set one: pipedeck break STAGE":            "set one: pipedeck break" + flags + " STAGE",
		"go on with: pipedeck continue shop":       "go on with: pipedeck continue" + flags + " shop",
		"what a plugin wrote, and pipedeck itself": "what a plugin wrote, and pipedeck itself",
	} {
		require.Equal(t, want, line.WithFlags(text, flags))
		require.Equal(t, want, line.WithFlags(want, flags), "once is enough")
		require.Equal(t, text, line.WithFlags(text, ""))
	}
}
