// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package complete_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// powershellDir has a parser of PowerShell, which make powershell fetches.
	powershellDir    = "../../../.cache/powershell"
	powershellParser = "../../../tools/powershell/parse.mjs"
)

// parsePowerShell returns what is wrong with a script; empty for nothing.
func parsePowerShell(t *testing.T, script string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "node", "--liftoff-only", powershellParser, powershellDir)
	cmd.Stdin, cmd.WaitDelay = strings.NewReader(script), time.Second
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() != 1 {
		require.NoError(t, err, string(out))
	}
	return strings.TrimSpace(string(out))
}

func TestTheScriptForPowerShellIsPowerShell(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat(filepath.Join(powershellDir, "node_modules")); err != nil {
		if _, noNPM := exec.LookPath("npm"); noNPM == nil && os.Getenv("CI") == "true" {
			require.NoError(t, err, "run: make powershell")
		}
		t.Skip("the parser of PowerShell is not here; fetch it with: make powershell")
	}
	out, err := exec.CommandContext(t.Context(), program, "completion", "powershell").Output()
	require.NoError(t, err)
	script := string(out)
	require.Contains(t, script, "Register-ArgumentCompleter -CommandName 'pipedeck'")
	require.Empty(t, parsePowerShell(t, script))

	for name, broken := range map[string]string{
		"a brace that is not closed": strings.TrimRight(script, "\n}") + "\n",
		"a quote that is not closed": script + "'",
		"another language":           "if [ -n \"$1\" ]; then echo x; fi\n",
	} {
		require.Regexp(t, `^\d+:\d+: `, parsePowerShell(t, broken), name)
	}
}
