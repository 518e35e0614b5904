// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/text"
	"github.com/pipedeck/pipedeck/tui/theme"
)

func TestACaptionKeepsItsWordsItsStepAndItsHint(t *testing.T) {
	t.Parallel()
	th := theme.New(theme.Options{NoColor: true})
	var numbered strings.Builder
	for n := range 60 {
		fmt.Fprintf(&numbered, "%04d ", n)
	}
	for _, words := range []string{
		"Git says two pods, and two pods run.",
		"The pods change, so the pipeline runs. The canary is one pod of the new version next to the old ones.",
		numbered.String(),
	} {
		for _, hint := range []string{"", "press . to go on", "waits for hello-world-quick WAIT_APPROVAL WAITING",
			`waits for hello-world analysis-10 FAILURE with the reason "more than its failureLimit"`} {
			for _, width := range []int{60, 80, 120, 200} {
				lines := Caption{Theme: th, Text: words, Step: 3, Steps: 6, Hint: hint}.Draw(width)
				require.GreaterOrEqual(t, len(lines), 2)
				for i, line := range lines {
					lines[i] = ansi.Strip(line)
					require.Equal(t, width, text.Width(lines[i]), line)
				}
				all := strings.Join(lines, "\n")
				require.Contains(t, all, "step 3 of 6")
				require.Contains(t, all, hint[:min(len(hint), 30)], "on %d columns", width)
				for word := range strings.FieldsSeq(words) {
					require.Contains(t, all, " "+word, "on %d columns", width)
				}
			}
		}
	}
}

func TestACaptionTooLongForItsLinesIsCut(t *testing.T) {
	t.Parallel()
	th := theme.New(theme.Options{NoColor: true})
	lines := Caption{Theme: th, Text: strings.Repeat("漢", 300), Step: 1, Steps: 2, Hint: "press . to go on"}.Draw(60)
	require.Len(t, lines, maxCaption+1)
	require.Contains(t, lines[maxCaption-1], th.Ellipsis)
	require.Contains(t, ansi.Strip(lines[maxCaption]), "press . to go on  step 1 of 2")
	for width := range 20 {
		Caption{Theme: th, Text: "Words", Step: 1, Steps: 2, Hint: "press . to go on"}.Draw(width)
	}
}
