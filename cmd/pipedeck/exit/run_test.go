// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package exit

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

func TestNextStepsNameTheEnvironmentOfTheCommandLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flags, want string }{
		{"", "pipedeck: it is over; start one with `pipedeck sync web`\nnext step: see pipedeck status\n"},
		{" --name demo", "pipedeck: it is over; start one with `pipedeck sync --name demo web`\n" +
			"next step: see pipedeck status --name demo\n"},
	} {
		root := &cobra.Command{RunE: func(*cobra.Command, []string) error {
			return With(Failed, errors.New("it is over; start one with `pipedeck sync web`"), "see pipedeck status")
		}}
		var out bytes.Buffer
		code := Run(t.Context(), root, nil, func() string { return c.flags }, io.Discard, &out)
		require.Equal(t, Failed, code)
		require.Equal(t, c.want, out.String())
	}
}
