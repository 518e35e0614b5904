// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/preview"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
	"github.com/pipedeck/pipedeck/tui/document"
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

// assistant is a client of a server that has no program to run.
func assistant(t *testing.T) *mcp.ClientSession {
	t.Helper()
	at, of := mcp.NewInMemoryTransports()
	server, err := newServer(&runner{program: "/nonexistent/pipedeck", slots: make(chan struct{}, 1)}, true).
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
	client := assistant(t)
	for _, c := range []struct {
		tool, says string
		arguments  map[string]any
	}{
		{"status", "unexpected additional properties", map[string]any{"x": 1}},
		{"logs", "missing properties", map[string]any{}},
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

func TestWhyHasASchemaOfItsAnswer(t *testing.T) {
	t.Parallel()
	tools, err := assistant(t).ListTools(t.Context(), nil)
	require.NoError(t, err)
	at := slices.IndexFunc(tools.Tools, func(tool *mcp.Tool) bool { return tool.Name == "why" })
	schema, err := json.Marshal(tools.Tools[at].OutputSchema)
	require.NoError(t, err)
	for _, name := range []string{"summary", "troubles", "problems", "starting", "next_step"} {
		require.Contains(t, string(schema), `"`+name+`"`)
	}
}

func TestALongExplanationLeavesLogsOut(t *testing.T) {
	t.Parallel()
	long := []string{strings.Repeat("x", 1000)}
	e := &explanation{Troubles: []trouble{{Stages: []troubledStage{{Log: long}, {Log: long}}},
		{Stages: []troubledStage{{Log: long}}}}}
	whole, err := json.Marshal(e)
	require.NoError(t, err)
	require.NoError(t, e.fit(len(whole)))
	require.Equal(t, long, e.Troubles[1].Stages[0].Log)
	require.NoError(t, e.fit(len(whole)-1))
	require.Equal(t, []string{leftOut}, e.Troubles[1].Stages[0].Log)
	require.Equal(t, long, e.Troubles[0].Stages[1].Log)
}

func TestTheSummarySaysWhetherNothingIsWrongOrNothingIsKnown(t *testing.T) {
	t.Parallel()
	e := &explanation{}
	require.Equal(t, "nothing has failed or waits: of 2 applications, each is healthy and in sync", e.summary(2, ""))
	e.Starting = []string{"kubernetes"}
	require.Equal(t, "no application is known; the environment is still starting: kubernetes", e.summary(0, ""))
	waits := trouble{Application: document.Application{Name: "a"}, Deployment: &document.Deployment{Status: "RUNNING"},
		Stages: []troubledStage{{Stage: document.Stage{ConfigID: "gate",
			Approval: document.Approval{CanApprove: true}}}}}
	fails := trouble{Application: document.Application{Name: "b"}, Deployment: &document.Deployment{Status: "FAILURE"}}
	drifts := trouble{Application: document.Application{Name: "c", Sync: "OUT_OF_SYNC", Health: "HEALTHY"}}
	e.Troubles, e.More, e.Starting = []trouble{waits, fails, drifts}, 1, nil
	require.Equal(t, "a: stage gate waits for approval; b: the newest deployment ended with FAILURE; "+
		"c: OUT_OF_SYNC, HEALTHY; and 1 more application", e.summary(5, ""))
}
