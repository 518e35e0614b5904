// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

// assistant is connected to `pipedeck mcp` as assistants are, over standard input and output.
func assistant(t *testing.T, e *environment, args ...string) *mcp.ClientSession {
	t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "story", Version: "1"}, nil)
	command := e.command(append([]string{"mcp"}, args...)...)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, session.Close(), "it ends in order when the assistant leaves") })
	return session
}

// call calls a tool and returns the text of its answer.
func call(t *testing.T, s *mcp.ClientSession, tool string, args map[string]any) (text string, failed bool) {
	t.Helper()
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args})
	require.NoError(t, err)
	for _, content := range result.Content {
		text += content.(*mcp.TextContent).Text + "\n"
	}
	return text, result.IsError
}

func tools(t *testing.T, s *mcp.ClientSession) (names []string) {
	t.Helper()
	listed, err := s.ListTools(t.Context(), nil)
	require.NoError(t, err)
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestAnAssistantReadsWhyADeploymentFailed(t *testing.T) {
	t.Parallel()
	e := newEnvironment(t)
	repo := repository(t, map[string]string{
		"good/app.pipecd.yaml": greets("good"),
		"bad/app.pipecd.yaml": application("bad", `  planner: {alwaysUsePipeline: true, autoRollback: false}
  pipeline:
    stages:
      - id: migrate
        name: SCRIPT_RUN
        with: {run: "echo the table is locked; exit 3"}
`),
	})
	s := e.start("up", repo, "--cluster", "none")
	s.await("the failure", deployed("bad", "FAILURE"))
	s.await("the success", deployed("good", "SUCCESS"))

	a := assistant(t, e)
	require.NotContains(t, tools(t, a), "sync", "nothing can be changed")
	text, failed := call(t, a, "why", map[string]any{"application": "bad"})
	require.False(t, failed, text)
	var why struct {
		Troubles []struct {
			Application struct{ Name string }
			Deployment  struct{ Status, Reason string }
			Stages      []struct {
				ConfigID string `json:"config_id"`
				Log      []string
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &why))
	require.Len(t, why.Troubles, 1)
	require.Equal(t, "FAILURE", why.Troubles[0].Deployment.Status)
	require.Equal(t, "migrate", why.Troubles[0].Stages[0].ConfigID)
	require.Contains(t, strings.Join(why.Troubles[0].Stages[0].Log, "\n"), "the table is locked")

	text, _ = call(t, a, "status", nil)
	require.Contains(t, text, `"components"`)
	text, _ = call(t, a, "logs", map[string]any{"application": "good", "lines": 1})
	require.Equal(t, 1, strings.Count(text, `"text":`), text)
	text, failed = call(t, a, "resources", map[string]any{"application": "--help"})
	require.True(t, failed)
	require.Contains(t, text, "next step:")

	misspelt := []byte("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec: {naem: x}\n")
	broken := filepath.Join(repo, "app.pipecd.yaml")
	require.NoError(t, os.WriteFile(broken, misspelt, 0o600))
	text, _ = call(t, a, "validate", map[string]any{"path": broken})
	require.Contains(t, text, "naem")
	broken = filepath.Join(t.TempDir(), "app.pipecd.yaml")
	require.NoError(t, os.WriteFile(broken, misspelt, 0o600))
	text, failed = call(t, a, "validate", map[string]any{"path": broken})
	require.True(t, failed)
	require.Contains(t, text, "outside the repository")
	require.NotContains(t, text, "naem")

	changing := assistant(t, e, "--allow-changes")
	require.Subset(t, tools(t, changing), []string{"why", "sync", "approve", "cancel", "rollback"})
	text, failed = call(t, changing, "sync", map[string]any{"application": "good"})
	require.False(t, failed, text)
	s.await("another deployment", deployed("good", "SUCCESS"))
}
