// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package exit

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

func TestAWrongNumberOfArgumentsIsInWordsOfUsers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		takes cobra.PositionalArgs
		args  []string
		want  string
	}{
		"too many":    {cobra.ExactArgs(1), []string{"a", "b"}, "takes 1 argument, got 2"},
		"none":        {cobra.MinimumNArgs(2), nil, "takes at least 2 arguments, got none"},
		"some more":   {cobra.MaximumNArgs(1), []string{"a", "b", "c"}, "takes at most 1 argument, got 3"},
		"not between": {cobra.RangeArgs(1, 2), nil, "takes between 1 and 2 arguments, got none"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := &cobra.Command{Use: "pipedeck"}
			root.AddCommand(&cobra.Command{
				Use: "up", Args: c.takes, RunE: func(*cobra.Command, []string) error { return nil },
			})
			flags := func() string { return " --state-dir /tmp/x" }
			var stderr strings.Builder
			code := Run(t.Context(), root, append([]string{"up"}, c.args...), flags, io.Discard, &stderr)
			require.Equal(t, WrongUsage, code)
			require.Equal(t, "pipedeck: up "+c.want+"\nnext step: see pipedeck up --help\n", stderr.String())
		})
	}
}
