// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/decktest"
)

// reading is the UI with the log of the running stage as the focused pane.
func reading(t *testing.T, width, height int, texts ...string) (*decktest.Server, *terminal) {
	t.Helper()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	server.Log("s3", deckv1.Severity_SEVERITY_INFO, texts...)
	s := play(t, dial(t, server), width, height, seams{})
	s.seesText("press a to approve", "following")
	s.types("3")
	return server, s
}

func TestALogIsSearchedByAnExpression(t *testing.T) {
	t.Parallel()
	var texts []string
	for i := range 500 {
		switch i {
		case 100, 200:
			texts = append(texts, fmt.Sprintf("line %d: connection refused", i))
		case 300:
			texts = append(texts, fmt.Sprintf("line %d: Ready", i))
		default:
			texts = append(texts, fmt.Sprintf("line %d", i))
		}
	}
	server, s := reading(t, 130, 30, texts...)
	s.seesText("line 499")
	s.types("g/ready|ref(used\r")
	s.seesText(`a bracket ( has no end; \( finds a bracket`)
	s.types("/ready|refused\r")
	s.seesText("/ready|refused", "1 of 3 hits", "line 100: connection refused")
	s.types("n")
	s.seesText("2 of 3 hits", "line 200")
	s.types("nn")
	s.seesText("1 of 3 hits", "line 100: connection refused")
	s.types("N")
	s.seesText("3 of 3 hits", "line 300: Ready")
	server.Log("s3", deckv1.Severity_SEVERITY_INFO, "refused again")
	s.seesText("3 of 4 hits", "line 300: Ready", "pinned")
	s.types("/absent\r")
	s.seesText("/absent", "no hit in 501 lines")
	s.types("\x1b")
	s.losesText("/absent")
}

func TestAHitBeyondTheEdgeOfAnUnwrappedLineIsShown(t *testing.T) {
	t.Parallel()
	_, s := reading(t, 100, 30, strings.Repeat("0123456789", 9000)+"needle"+strings.Repeat("x", 500))
	s.seesText("1 line ")
	s.types("w/needle\r")
	s.seesText("1 of 1 hit", "6789needlexxx")
	s.types("\x1b")
	s.losesText("/needle")
	s.types("w")
	s.seesText("xxxxx")
}

func TestLinesOfALogAreFilteredByLevel(t *testing.T) {
	t.Parallel()
	server, s := reading(t, 130, 30, "applying 3 objects", "W1123 10:00:00.000001 1 a.go:1] slow",
		`{"level":"error","msg":"boom"}`,
		"DEBUG cache hit\n  of 3 entries", "all is well")
	s.seesText("applying", "slow", "boom", "of 3 entries", "all is well")
	s.types("L")
	s.losesText("of 3 entries")
	s.seesText("level info and above", "applying", "slow", "boom", "4 of 6 lines")
	s.types("L")
	s.losesText("applying")
	s.seesText("level warn and above", "slow", "boom")
	s.types("L")
	s.losesText("slow")
	s.seesText("level error and above", "boom")
	server.Log("s3", deckv1.Severity_SEVERITY_ERROR, "it failed")
	s.types("f")
	s.seesText("boom", "it failed")
	s.types("L")
	s.losesText("and above")
	s.seesText("applying", "of 3 entries")
}

func TestTheFirstErrorOfALogIsFound(t *testing.T) {
	t.Parallel()
	server, s := reading(t, 100, 30, numbers(300)...)
	s.seesText("number 299")
	s.types("!")
	s.seesText("no error in this log so far")
	server.Log("s3", deckv1.Severity_SEVERITY_ERROR, "the first of all")
	server.Log("s3", deckv1.Severity_SEVERITY_INFO, numbers(300)...)
	s.seesText("601 lines")
	s.losesText("the first of all")
	s.types("!")
	s.seesText("the first of all", "pinned")
}

func TestTheTextOfAScriptIsFoldedUntilEnter(t *testing.T) {
	t.Parallel()
	_, s := reading(t, 100, 30, "Running the script:\n  set -e\n  one\n  two\n  three\n  four", "one is done")
	s.seesText("Running the script:", "▸ 5 lines of the script, enter unfolds", "one is done")
	s.losesText("set -e")
	s.types("\r")
	s.seesText("set -e", "three")
	s.types("\r")
	s.losesText("set -e")
	s.types("/three\r")
	s.seesText("1 of 1 hit", "set -e") // a hit in it unfolds it
}

func TestALogIsSavedAsItCame(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	const coloured = "\x1b[31mred\x1b[0m 10%\r20%\tend"
	server.Log("s3", deckv1.Severity_SEVERITY_INFO, "first\nsecond", coloured)
	dir := t.TempDir()
	s := session{client: dial(t, server), width: 180, height: 30, saveDir: dir}.start(t, context.Background())
	s.seesText("press a to approve", "3 lines")
	for _, name := range []string{"hello-world-WAIT_APPROVAL-Ask-a-person.log",
		"hello-world-WAIT_APPROVAL-Ask-a-person-2.log"} {
		s.types("3W")
		s.seesText("saved 3 lines to", name)
		path := filepath.Join(dir, name)
		saved, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, "first\nsecond\n"+coloured+"\n", string(saved))
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())
	}
	require.NoError(t, os.Chmod(dir, 0o500))
	t.Cleanup(func() { require.NoError(t, os.Chmod(dir, 0o700)) })
	if os.Getuid() == 0 {
		return // root may write everywhere
	}
	s.types("W")
	s.seesText("cannot save the log", "permission denied")
}

func TestHostileLinesOfALogDoNotActOnTheTerminal(t *testing.T) {
	t.Parallel()
	_, s := reading(t, 100, 30, "a\x1b[2J\x1b[Hb", "x\x1b]52;c;aGFja2Vk\x07y", "t\x1b]0;owned\x07u",
		"\x1b[?1049l\x1b[31mred\x1b[0m",
		"\x1bP1;2|x\x1b\\device", "bell\x07 \u202ereversed", "👨‍👩‍👧 🇩🇪 ☝🏽 日本語 end")
	s.seesText("ab", "xy", "tu", "red", "device", "bell reversed", "end", "press a to approve")
	s.mu.Lock()
	defer s.mu.Unlock()
	raw := s.raw.String()
	for _, act := range []string{"\x1b]52", "owned", "\x1b[?1049l", "\x1bP1", "\u202e"} {
		require.NotContains(t, raw, act)
	}
	require.Contains(t, raw, "👨‍👩‍👧", "a character stays whole")
	require.Contains(t, raw, "🇩🇪")
	require.Contains(t, raw, "☝🏽")
}

func TestTheReaderStaysWhereTheyWereWhenAllLinesAreShownAgain(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{"esc ends the search": "\x1b", "& shows all": "&"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, s := reading(t, 120, 24, numbers(300)...)
			s.seesText("number 299")
			s.types("g/number .50\r")
			s.seesText("1 of 3 hits")
			s.types("n&")
			s.seesText("3 of 300 lines", "number 050", "number 150", "number 250")
			s.types(end)
			s.seesText("number 149", "number 150", "number 151", "pinned")
			s.losesText("number 050")
		})
		t.Run(name+" without a hit", func(t *testing.T) {
			t.Parallel()
			_, s := reading(t, 120, 24, numbers(300)...)
			s.seesText("number 299")
			s.types("g/number .50\r")
			s.seesText("1 of 3 hits")
			s.types("nn")
			s.seesText("3 of 3 hits", "number 249")
			s.types("&/absent\r")
			s.seesText("no hit in 300 lines", "300 lines are hidden: none has a hit of absent. & shows all, esc ends")
			s.types(end)
			s.seesText("number 249", "number 250", "pinned")
			s.losesText("are hidden")
		})
	}
}

func TestAnEmptyLogSaysWhatHidesItsLines(t *testing.T) {
	t.Parallel()
	server, s := reading(t, 120, 24, "an info", "another")
	s.seesText("an info")
	s.types("LLL")
	s.seesText("2 lines are hidden: none is of level error or above. L shows all.")
	s.losesText("No line so far")
	s.types("L")
	s.seesText("an info")
	s.types("LL")
	s.seesText("2 lines are hidden: none is of level warn or above. L, pressed 2 times, shows all.")
	server.Log("s3", deckv1.Severity_SEVERITY_INFO, "WARN slow")
	s.seesText("WARN slow")
	s.losesText("are hidden")
	s.types("LL/x\x15\r")
	s.seesText("an info")
	s.types("/inf\r")
	s.seesText("1 of 1 hit")
	s.types("&/\r")
	s.seesText("3 lines are hidden: only those with a hit are shown, and nothing is looked for. & shows all.")
	s.types("&")
	s.seesText("an info", "another")
}
