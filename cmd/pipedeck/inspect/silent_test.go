// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"net"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/preview"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

// TestCommandsThatMayTakeLongSayWhenTheEnvironmentDoesNotAnswer has an environment whose connections nothing answers.
// None of the commands has a flag that would give it more time.
func TestCommandsThatMayTakeLongSayWhenTheEnvironmentDoesNotAnswer(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	stateDir := clitest.Running(t, silent.Addr().String())
	commands := func(target *session.Target) []*cobra.Command {
		return append(Commands(target), preview.NewCommand(target))
	}
	for _, line := range []string{
		"apps", "logs hello-world", "logs --plugin kubernetes", "diff hello-world --commit HEAD", "plan-preview",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := clitest.Run(t.Context(), commands, stateDir, strings.Fields(line)...)
			require.Equal(t, exit.NotStarted, code, stderr)
			require.Empty(t, stdout)
			require.Contains(t, stderr, `pipedeck: environment "default" does not answer`)
			require.Contains(t, stderr, "next step: try again; what it is doing is in logs/host.log in its directory")
		})
	}
}
