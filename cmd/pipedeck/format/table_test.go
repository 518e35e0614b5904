// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/text"
)

func example() Table {
	return Table{Columns: []Column{
		{Head: "ID", ID: true, Yield: 3}, {Head: "NAME", Yield: 1, Least: 8}, {Head: "STATUS", State: true},
		{Head: "CHAIN", Drop: 2}, {Head: "REASON", Yield: 2, Least: 10, Drop: 1}, {Head: "MORE", Wide: true},
	}, Rows: [][]string{
		{"0123456789-aaaa", "shop", "SUCCESS", "", strings.Repeat("because ", 10), "x"},
		{"0123456789-bbbb", "a longer name", "FAILURE", "1", "", "y"},
	}}
}

func shown(t *testing.T, table Table, s screen) []string {
	t.Helper()
	var b strings.Builder
	require.NoError(t, table.print(&b, s))
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func TestATableInAPipeIsWholeAndPlain(t *testing.T) {
	t.Parallel()
	lines := shown(t, example(), screen{})
	require.Equal(t, "ID                NAME            STATUS    CHAIN   REASON", lines[0])
	require.Contains(t, lines[1], strings.TrimSpace(strings.Repeat("because ", 10)))
	require.NotContains(t, strings.Join(lines, ""), "\x1b")
	require.NotContains(t, lines[0], "MORE")
}

func TestATableFitsEveryTerminal(t *testing.T) {
	t.Parallel()
	for width := 40; width < 160; width++ {
		for _, line := range shown(t, example(), newScreen(width, []string{"TERM=xterm"})) {
			require.LessOrEqual(t, text.Width(line), width, line)
		}
	}
	wide := example()
	wide.whole, wide.extra = true, true
	require.Contains(t, shown(t, wide, newScreen(40, nil))[0], "MORE")
}

func TestIdsAndReasonsAreShortenedFirstAndNamesLast(t *testing.T) {
	t.Parallel()
	plain := []string{"NO_COLOR=1"}
	lines := shown(t, example(), newScreen(80, plain))
	require.Equal(t, "0123456789-a   shop            SUCCESS   -       because because because becaus…", lines[1])
	require.True(t, strings.HasSuffix(lines[1], "…"), lines[1])
	require.Contains(t, lines[2], "a longer name")
	narrow := shown(t, example(), newScreen(34, plain))
	require.Contains(t, narrow[1], "0123456789-a ", "ids are cut to what is unique, without a sign")
	require.NotContains(t, narrow[1], "0123456789-aa ")
	require.NotContains(t, narrow[0], "CHAIN")
}

func TestStatesHaveColoursOnTerminalsThatShowThem(t *testing.T) {
	t.Parallel()
	coloured := strings.Join(shown(t, example(), newScreen(200, []string{"TERM=xterm-256color"})), "\n")
	require.Contains(t, coloured, "\x1b[32mSUCCESS\x1b[")
	require.Regexp(t, "\x1b\\[[0-9;]*31mFAILURE\x1b", coloured)
	for _, environ := range [][]string{{"NO_COLOR=1", "TERM=xterm"}, {"TERM=dumb"}} {
		require.NotContains(t, strings.Join(shown(t, example(), newScreen(200, environ)), ""), "\x1b")
	}
}

func TestATableHasNoHeadsWhenTheyAreNotWanted(t *testing.T) {
	t.Parallel()
	table := example()
	table.headless = true
	require.True(t, strings.HasPrefix(shown(t, table, screen{})[0], "0123456789-aaaa"))
	empty := Table{Columns: Heads("A", "B")}
	require.Equal(t, []string{"A   B"}, shown(t, empty, newScreen(20, []string{"NO_COLOR=1"})))
}

func TestAFileIsNoTerminal(t *testing.T) {
	t.Parallel()
	file, err := os.Create(t.TempDir() + "/out")
	require.NoError(t, err)
	defer file.Close()
	require.Zero(t, screenOf(file).width)
	require.False(t, screenOf(file).colours)
}

// sentences has a row with a long reason and next step, one with a short reason, and one without.
func sentences() Table {
	return Table{Columns: []Column{
		{Head: "TIME", Yield: 2, Least: 8, Ending: true}, {Head: "NAME", Yield: 1, Least: 8},
		{Head: "STATUS", State: true}, {Head: "REASON", Text: true}, {Head: "NEXT STEP", Text: true},
	}, Rows: [][]string{
		{"2026-11-26 17:00:01", "shop", "FAILURE", strings.Repeat("because ", 20) + "of it; next step: write replicas",
			"look for it, then\nrun: pipedeck sync shop"},
		{"2026-11-26 17:00:02", "a longer name", "CANCELLED", "by ann", ""},
		{"2026-11-26 17:00:03", "web", "SUCCESS", "", ""},
	}}
}

func TestReasonsAndNextStepsAreNeverCut(t *testing.T) {
	t.Parallel()
	for width := 30; width < 400; width++ {
		lines := shown(t, sentences(), newScreen(width, []string{"NO_COLOR=1"}))
		all := strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
		for _, sentence := range []string{
			strings.Repeat("because ", 20) + "of it", "next step: write replicas",
			"look for it, then run: pipedeck sync shop", "by ann",
		} {
			require.Contains(t, all, sentence, width)
		}
		for _, line := range lines {
			require.LessOrEqual(t, text.Width(line), max(width, 34), line)
		}
	}
}

func TestSentencesStandBelowTheirRowWhereThereIsNoRoom(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{
		"TIME                  NAME            STATUS",
		"2026-11-26 17:00:01   shop            FAILURE",
		"  reason: because because because because because because",
		"    because because because because because because because",
		"    because because because because because because because",
		"    of it",
		"  next step: write replicas",
		"  next step: look for it, then run: pipedeck sync shop",
		"2026-11-26 17:00:02   a longer name   CANCELLED",
		"  reason: by ann",
		"2026-11-26 17:00:03   web             SUCCESS",
	}, shown(t, sentences(), newScreen(60, []string{"NO_COLOR=1"})))
}

func TestATimeIsShownWithoutItsDateWhereThereIsNoRoom(t *testing.T) {
	t.Parallel()
	for _, width := range []int{34, 40, 46} {
		lines := shown(t, sentences(), newScreen(width, []string{"NO_COLOR=1"}))
		require.True(t, strings.HasPrefix(lines[1], "17:00:01 "), lines[1])
	}
}

func TestTheLastSentencesGoBelowTheirRowFirst(t *testing.T) {
	t.Parallel()
	table := sentences()
	table.Rows[0][3] = "because of it"
	require.Equal(t, []string{
		"TIME                  NAME            STATUS      REASON",
		"2026-11-26 17:00:01   shop            FAILURE     because of it",
		"  next step: look for it, then run: pipedeck sync shop",
		"2026-11-26 17:00:02   a longer name   CANCELLED   by ann",
		"2026-11-26 17:00:03   web             SUCCESS     -",
	}, shown(t, table, newScreen(80, []string{"NO_COLOR=1"})))
}

func TestTheLastSentencesAreWrappedInTheirColumnWhereThereIsRoom(t *testing.T) {
	t.Parallel()
	table := Table{Columns: []Column{
		{Head: "CHECK"}, {Head: "STATE", State: true}, {Head: "FOUND", Text: true},
	}, Rows: [][]string{
		{"git", "ok", "git version 2"},
		{"ports", "fail", "no address can be listened on: all parts talk over one; next step: ip link set lo up"},
	}}
	require.Equal(t, []string{
		"CHECK   STATE   FOUND",
		"git     ok      git version 2",
		"ports   fail    no address can be listened on: all parts",
		"                talk over one",
		"                next step: ip link set lo up",
	}, shown(t, table, newScreen(60, []string{"NO_COLOR=1"})))
}
