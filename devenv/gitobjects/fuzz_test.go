// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package gitobjects

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func FuzzParseCommit(f *testing.F) {
	person := " A <a@b> 1 +0000\n"
	f.Add([]byte("tree " + strings.Repeat("1", 40) + "\nauthor" + person + "committer" + person + "\nsubject\n"))
	f.Add([]byte("tree " + strings.Repeat("1", 40) + "\ncommitter > 99999999999999999999"))
	f.Fuzz(func(t *testing.T, content []byte) {
		commit, err := parseCommit(content)
		if err != nil {
			require.ErrorIs(t, err, errMalformed)
			return
		}
		require.False(t, commit.Tree.IsZero())
		require.True(t, strings.HasSuffix(string(content), commit.Message))
	})
}

func FuzzParseTree(f *testing.F) {
	hash := strings.Repeat("x", 20)
	f.Add([]byte("100644 file\x00" + hash + "40000 dir\x00" + hash))
	f.Add([]byte("100644 file\x00short"))
	f.Fuzz(func(t *testing.T, content []byte) {
		entries, err := parseTree(content)
		if err != nil {
			require.ErrorIs(t, err, errMalformed)
			return
		}
		size := 0
		for _, e := range entries {
			require.NotEmpty(t, e.Name)
			size += len(fmt.Sprintf(" %s\x00", e.Name)) + len(e.Hash)
		}
		require.LessOrEqual(t, size, len(content), "each byte belongs to at most one entry")
	})
}
