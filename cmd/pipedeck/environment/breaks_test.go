// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestBreakpointsAreCheckedBeforeAnythingStarts(t *testing.T) {
	t.Parallel()
	require.ErrorContains(t, checkBreaks([]string{"befor A"}, ""), "did you mean before?")
	require.ErrorContains(t, checkBreaks([]string{"before A"}, "/usr/bin/piped"), "needs the included piped")
	require.NoError(t, checkBreaks([]string{"before A"}, ""))
	require.NoError(t, checkBreaks(nil, "/usr/bin/piped"))
	f := &Flags{breaks: []string{"after shop/deploy"}}
	require.Contains(t, f.arguments(), "--break=after shop/deploy", "the process of the environment gets them")
	require.ErrorContains(t, checkBreaksInCI(f.breaks), "needs a terminal")
	require.NoError(t, checkBreaksInCI(nil))
	b := breakpointsOf(f.breaks)[0]
	require.Equal(t, deckv1.Breakpoint_WHEN_AFTER, b.GetWhen())
	require.Equal(t, "shop", b.GetApplication())
	require.Equal(t, "deploy", b.GetStage())
}
