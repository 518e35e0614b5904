// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package live

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatGitComplainsOfIsBounded(t *testing.T) {
	t.Parallel()
	l := &limited{limit: 15}
	cmd := exec.CommandContext(t.Context(), "cat")
	cmd.Stdin, cmd.Stdout = strings.NewReader(strings.Repeat("0123456789", 10_000)), l
	require.NoError(t, cmd.Run())
	require.Len(t, l.String(), 15)
}
