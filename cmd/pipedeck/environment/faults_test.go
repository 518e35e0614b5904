// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

func TestFaultsAreCheckedBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"up", "ci"} {
		code, stdout, stderr := command(t.Context(), t.TempDir(), name, "--sample", "hello-world", "--cluster", "none",
			"--fault", "WAIT: delay 5s; kil")
		require.Equal(t, exit.WrongUsage, code, stderr)
		require.Contains(t, stdout+stderr,
			`--fault: fault "WAIT: delay 5s; kil": column 17: "kil" is not an action of WAIT`)
		require.Contains(t, stdout+stderr, "next step: write it like: --fault 'WAIT: kill@log 3; delay 5s'")
	}
	require.ErrorContains(t, checkFaults([]string{"A: hang\nB: hang"}, ""), "has several lines")
	require.ErrorContains(t, checkFaults([]string{"A: hang"}, "/usr/bin/piped"), "needs the included piped")
	require.NoError(t, checkFaults([]string{"A: hang"}, ""))
	require.NoError(t, checkFaults(nil, "/usr/bin/piped"))
	require.Contains(t, (&Flags{faults: []string{"A: hang"}}).arguments(), "--fault=A: hang",
		"for the process behind up")
}
