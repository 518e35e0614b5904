// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
)

func TestWhatOthersWroteDoesNotActOnTheTerminal(t *testing.T) {
	t.Parallel()
	var table, log bytes.Buffer
	require.NoError(t, printTable(&table, []string{"NAME", "REASON"},
		[][]string{{"web\x1b[2J\tx", ""}, {"a\nb", "\u202eevil"}}))
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

func TestTheVerdictNamesEveryFailureAndItsReason(t *testing.T) {
	t.Parallel()
	require.NoError(t, verdict(nil, nil))
	err := verdict([]*deckv1.Deployment{
		{ApplicationName: "web", Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_FAILURE, StatusReason: "no image"},
		{ApplicationName: "db", Status: deckv1.DeploymentStatus_DEPLOYMENT_STATUS_CANCELLED, StatusReason: "by ann"},
	}, nil)
	var exit *exitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, exitFailed, exit.code)
	require.ErrorContains(t, err, "no image")
	require.ErrorContains(t, err, "by ann")
	require.ErrorAs(t, verdict(nil, []*deckv1.Application{{Name: "web", SyncReason: "app.pipecd.yaml:3:1"}}), &exit)
	require.Equal(t, exitUsage, exit.code)
}
