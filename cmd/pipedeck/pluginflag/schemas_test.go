// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginflag

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatAProgramPrintsIsBounded(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789", 10_000) // more than one read of a pipe
	b := NewBoundedBuffer(15)
	cmd := exec.CommandContext(t.Context(), "cat")
	cmd.Stdin, cmd.Stdout = strings.NewReader(text), b
	require.NoError(t, cmd.Run(), "the program is not stopped by the bound")
	require.Len(t, b.Bytes(), 15)
	require.Equal(t, "012345678901234", b.String())
	require.Equal(t, b.String(), string(b.Bytes()))
}
