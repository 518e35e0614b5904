// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/document"
)

func printedLog(t *testing.T, pieces ...string) []byte {
	t.Helper()
	var printed bytes.Buffer
	for _, text := range pieces {
		require.NoError(t, json.NewEncoder(&printed).Encode(document.LogLine{Log: document.Log{Text: text}}))
	}
	return printed.Bytes()
}

func TestTheEndOfALogIsKept(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	long, wide := lines.String(), strings.Repeat("x", 900)
	for name, c := range map[string]struct {
		pieces  []string
		n, size int
		want    []string
	}{
		"all of a short one":                   {[]string{"a", "b\n"}, 100, 1000, []string{"a", "b"}},
		"the last pieces":                      {[]string{"a", "b", "c"}, 2, 1000, []string{"b", "c"}},
		"lines within a piece are counted":     {[]string{"a\nb\nc\n", "d"}, 2, 1000, []string{"c", "d"}},
		"the last lines of a long piece":       {[]string{long}, 2, 1000, []string{"line 9998\nline 9999"}},
		"an error after a long piece":          {[]string{"a", long, "failed"}, 1, 1000, []string{"failed"}},
		"no piece is older than one cut short": {[]string{"a", "b\n" + wide, "c"}, 9, 700, []string{"c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, texts(lastPieces(printedLog(t, c.pieces...), c.n, c.size)))
		})
	}
}

func TestTheEndOfALogFitsIntoAnAnswer(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"many lines": strings.Repeat("0123456789\n", 100_000) + "the error",
		"one line":   strings.Repeat("é\x01", 100_000) + "the error",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			last := lastPieces(printedLog(t, "before", text), maxLines, 2000)
			require.Len(t, last, 1)
			require.True(t, strings.HasSuffix(last[0].Text, "the error"))
			require.LessOrEqual(t, encoded(last[0]), 2000)
			require.Greater(t, len(last[0].Text), 200)
		})
	}
}

func TestLogsSayHowManyLinesAreLeftOut(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "logs"),
		printedLog(t, "begin", strings.Repeat(strings.Repeat("x", 300)+"\n", 2998), "end"), 0o600))
	program, err := filepath.Abs(filepath.Join("testdata", "printing.sh"))
	require.NoError(t, err)
	client := assistant(t, program, dir)
	for lines, want := range map[int]string{
		5: "these are the last 5 of 3000 lines; 2995 are left out\nnext step: ask for more with lines, at most 1000",
		1000: ` are left out, because an answer has at most 128 KiB
next step: name a stage, or read all of them with: pipedeck logs`,
	} {
		answer, err := client.CallTool(t.Context(),
			&mcp.CallToolParams{Name: "logs", Arguments: map[string]any{"application": "web", "lines": lines}})
		require.NoError(t, err)
		require.Len(t, answer.Content, 2)
		require.Contains(t, answer.Content[0].(*mcp.TextContent).Text, "end")
		require.Contains(t, answer.Content[1].(*mcp.TextContent).Text, want)
	}
	require.Empty(t, noteOf(7, 7, 100))
	require.Contains(t, noteOf(1000, 3000, 1000), "; 2000 are left out\nnext step: name a stage")
}

func TestABufferKeepsTheEndOfWhatIsWritten(t *testing.T) {
	t.Parallel()
	b := &tailBuffer{limit: 10}
	for i := range 100 {
		n, err := fmt.Fprintf(b, "%d,", i)
		require.NoError(t, err)
		require.Positive(t, n)
		require.LessOrEqual(t, len(b.Bytes()), 20)
	}
	require.True(t, strings.HasSuffix(string(b.Bytes()), "96,97,98,99,"[2:]))
	n, err := b.Write([]byte(strings.Repeat("x", 1000)))
	require.NoError(t, err)
	require.Equal(t, 1000, n)
	require.Equal(t, strings.Repeat("x", 10), string(b.Bytes())[len(b.Bytes())-10:])
	require.LessOrEqual(t, len(b.Bytes()), 20)
}

func TestTheEndOfWhatAProgramPrintsIsBounded(t *testing.T) {
	t.Parallel()
	b := &tailBuffer{limit: 10}
	cmd := exec.CommandContext(t.Context(), "cat")
	cmd.Stdin, cmd.Stdout = strings.NewReader(strings.Repeat("0123456789", 10_000)+"the end"), b
	require.NoError(t, cmd.Run())
	require.True(t, strings.HasSuffix(string(b.Bytes()), "789the end"))
	require.LessOrEqual(t, len(b.Bytes()), 20)
}
