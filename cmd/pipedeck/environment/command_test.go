// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"context"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
)

// command runs a command line as a user does who keeps environments in stateDir.
func command(ctx context.Context, stateDir string, args ...string) (code int, stdout, stderr string) {
	return clitest.Run(ctx, Commands, stateDir, args...)
}

// ciArguments are a command line of ci whose agent and plugins do nothing.
func ciArguments(t *testing.T, repository string, args ...string) []string {
	t.Helper()
	nothing, err := exec.LookPath("true")
	require.NoError(t, err)
	all := []string{"ci", repository, "--cluster", "none", "--name", "test", "--output", "plain", "--piped", nothing}
	for _, name := range bundledPlugins {
		all = append(all, "--plugin", name+"="+nothing)
	}
	return append(all, args...)
}
