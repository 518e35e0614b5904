// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package defaults

import (
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/limit"
)

func TestAValueThatAFlagRefusesEndsEveryCommand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ content, want string }{
		"a duration": {"ci: {timeout: abc}\n",
			`:1:15: abc is not a value of --timeout: time: invalid duration "abc"`},
		"true or false": {"up:\n  live: 7\n", ":2:9: 7 is not a value of --live: strconv.ParseBool"},
		"for all":       {"all: {live: maybe}\n", ":1:13: maybe is not a value of --live: strconv.ParseBool"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, command := range []string{"status", "up"} {
				_, err := run(t, c.content, nil, command)
				require.ErrorContains(t, err, c.want)
				mistakes := (*Mistakes)(nil)
				require.ErrorAs(t, err, &mistakes)
				require.Len(t, mistakes.List, 1)
			}
		})
	}
	var limited time.Duration
	root := &cobra.Command{Use: "pipedeck"}
	sub := &cobra.Command{Use: "ci", Run: func(*cobra.Command, []string) {}}
	limit.Var(sub.Flags(), &limited, "timeout", time.Minute, "of ci")
	root.AddCommand(sub)
	mistakes := Check(root, []byte("ci: {timeout: -1s}\n"), "config.yaml", false)
	require.EqualError(t, mistakes,
		"config.yaml:1:15: -1s is not a value of --timeout: a time limit must be more than 0")
	require.Empty(t, Check(root, []byte("ci: {timeout: 2s}\n"), "config.yaml", false).List)
	require.Equal(t, time.Minute, limited, "a check changes no flag")
}
