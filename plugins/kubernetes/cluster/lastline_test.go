// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheLastLineOfAContainerSaysWhyItEnded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ü", maxLastLine/2)
	for output, want := range map[string]string{
		"":                                   "",
		"starting\nno such table\n\n":        "no such table",
		"panic: no\n\ngoroutine 1 [running]": "panic: no",
		long:                                 long,
		long + "more":                        long + "…",
		"x" + long:                           "x" + long[:len(long)-2] + "…",
	} {
		require.Equal(t, want, LastLine(output))
	}
}
