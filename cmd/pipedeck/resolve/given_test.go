// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestAFlagThatNamesSomethingIsNotEmpty(t *testing.T) {
	t.Parallel()
	parse := func(args ...string) (commit string, err error) {
		flags := pflag.NewFlagSet("sync", pflag.ContinueOnError)
		GivenVar(flags, &commit, "commit", "a commit")
		err = flags.Parse(args)
		return commit, err
	}
	commit, err := parse()
	require.NoError(t, err)
	require.Empty(t, commit)
	commit, err = parse("--commit", "3f2a1c9")
	require.NoError(t, err)
	require.Equal(t, "3f2a1c9", commit)
	_, err = parse("--commit", "")
	require.ErrorContains(t, err, "--commit")
	require.ErrorContains(t, err, "it is empty")
}
