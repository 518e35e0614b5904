// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/text"
)

func TestAShellReadsAWordAsItWas(t *testing.T) {
	t.Parallel()
	require.Equal(t, "hello-world", text.ShellWord("hello-world"))
	for _, arg := range []string{"", "two words", "it's", "$HOME", "`id`", `a\b`, "a;b", "*", "a\tb"} {
		out, err := exec.CommandContext(t.Context(), "sh", "-c", "printf %s "+text.ShellWord(arg)).Output()
		require.NoError(t, err)
		require.Equal(t, arg, string(out))
	}
}
