// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func TestTheWordsAreThoseOfTheCases(t *testing.T) {
	t.Parallel()
	all, err := words("..")
	require.NoError(t, err)
	for _, word := range []string{"deployed", "nothing", "SUCCESS"} {
		require.Contains(t, all, word)
	}
	written, err := os.ReadFile("../words.txt")
	require.NoError(t, err)
	require.True(t, strings.Join(all, "\n")+"\n" == string(written), "words.txt is old: run make generate")
}
