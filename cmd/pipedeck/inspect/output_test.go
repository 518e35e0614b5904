// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
)

func TestWhatOthersWroteDoesNotActOnTheTerminal(t *testing.T) {
	t.Parallel()
	var table, log bytes.Buffer
	require.NoError(t, (&format.Output{}).Table(&table, format.Table{Columns: format.Heads("NAME", "REASON"),
		Rows: [][]string{{"web\x1b[2J\tx", ""}, {"a\nb", "\u202eevil"}}}))
	require.NoError(t, printLines(&log, bufio.NewReader(strings.NewReader("\x1b]0;title\x07hello\n\x9b31mred\n"))))
	for _, out := range []string{table.String(), log.String()} {
		require.NotContains(t, out, "\x1b")
		require.NotContains(t, out, "\x07")
		require.NotContains(t, out, "\u202e")
	}
	require.Equal(t, 3, strings.Count(table.String(), "\n"), "a cell cannot begin a row:\n%s", table.String())
	require.Contains(t, table.String(), "-", "an empty cell is shown")
	require.Contains(t, log.String(), "hello\n")
}

func TestALogIsPrintedUpToItsEndAndFurtherWhenItGrows(t *testing.T) {
	t.Parallel()
	var grown, out bytes.Buffer
	lines := bufio.NewReader(&grown)
	grown.WriteString("one\ntw")
	require.NoError(t, printLines(&out, lines))
	require.Equal(t, "one\ntw", out.String())
	grown.WriteString("o\n" + strings.Repeat("x", 10_000) + "\n")
	require.NoError(t, printLines(&out, lines))
	require.Equal(t, "one\ntwo\n"+strings.Repeat("x", 10_000)+"\n", out.String())

	read, write := io.Pipe()
	require.NoError(t, write.CloseWithError(io.ErrClosedPipe))
	require.ErrorIs(t, printLines(&out, bufio.NewReader(read)), io.ErrClosedPipe)
}
