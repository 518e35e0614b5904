// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"context"
	"errors"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/preview"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

func TestAPreviewOfACommitHasOnlyFlagsOfItsCommand(t *testing.T) {
	t.Parallel()
	for _, commit := range []string{"", "HEAD~1", "--output=x"} {
		cmd := preview.NewCommand(&session.Target{})
		require.NoError(t, cmd.ParseFlags(previewLine(previewed{Commit: commit})[1:]))
		require.Equal(t, commit, cmd.Flag("commit").Value.String())
		require.Equal(t, "json", cmd.Flag("output").Value.String())
	}
}

func TestAServerThatIsInterruptedEndsAsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, ended(ctx, nil))
	var failure *exit.Error
	require.ErrorAs(t, ended(ctx, errors.New("no JSON")), &failure)
	require.Equal(t, exit.Failed, failure.Code)
	require.ErrorContains(t, failure.Err, "messages of the assistant")
	cancel()
	require.ErrorAs(t, ended(ctx, ctx.Err()), &failure)
	require.Equal(t, exit.Interrupted, failure.Code)
	require.NoError(t, failure.Err)
}

const nonexistent = "/nonexistent/pipedeck"

// assistant is a client of a server that runs this program.
func assistant(t *testing.T, program string, flags ...string) *mcp.ClientSession {
	t.Helper()
	at, of := mcp.NewInMemoryTransports()
	server, err := newServer(&runner{program: program, flags: flags, slots: make(chan struct{}, 1)}, true).
		Connect(t.Context(), at, nil)
	require.NoError(t, err)
	client, err := mcp.NewClient(&mcp.Implementation{Name: "assistant"}, nil).Connect(t.Context(), of, nil)
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Wait()
	})
	return client
}

func TestEveryErrorOfAToolEndsWithTheNextStep(t *testing.T) {
	t.Parallel()
	client := assistant(t, nonexistent)
	for _, c := range []struct {
		tool, says string
		arguments  map[string]any
	}{
		{"status", "unexpected additional properties", map[string]any{"x": 1}},
		{"logs", "missing properties", map[string]any{}},
		{"logs", "lines: minimum: ", map[string]any{"application": "a", "lines": 0}},
		{"logs", "lines: minimum: ", map[string]any{"application": "a", "lines": -1}},
		{"logs", "lines: maximum: ", map[string]any{"application": "a", "lines": 1_000_000_000}},
		{"logs", `want "integer"`, map[string]any{"application": "a", "lines": "many"}},
		{"resources", "holds the NUL character", map[string]any{"application": "a\x00b"}},
		{"why", "nonexistent", map[string]any{}},
	} {
		answer, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.arguments})
		require.NoError(t, err, c.tool)
		require.True(t, answer.IsError, c.tool)
		text := answer.Content[0].(*mcp.TextContent).Text
		require.Contains(t, text, c.says)
		require.Contains(t, text, "\nnext step: ")
	}
}
