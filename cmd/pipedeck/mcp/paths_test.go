// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package mcp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"
)

func TestAnAssistantValidatesOnlyFilesOfItsDirectories(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	here, repository := filepath.Join(base, "here"), filepath.Join(base, "repository")
	for _, name := range []string{
		"secret", "here/.git/config", "here/app.pipecd.yaml", "here/..b", "repository/web/app.pipecd.yaml",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(base, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(base, name), nil, 0o600))
	}
	for from, to := range map[string]string{
		"out": "../secret", "in": "../repository/web", "up": "..", "git": ".git", "dangling": "/nonexistent/x",
	} {
		require.NoError(t, os.Symlink(to, filepath.Join(here, from)))
	}
	for name, want := range map[string]string{
		".": here, "app.pipecd.yaml": here + "/app.pipecd.yaml", "..b": here + "/..b",
		"web/app.pipecd.yaml": repository + "/web/app.pipecd.yaml", "in": repository + "/web",
		here + "/in/app.pipecd.yaml": repository + "/web/app.pipecd.yaml", repository: repository,
		"/etc/passwd": "", "../secret": "", "out": "", "up/secret": "", base: "", base + "/none": "",
		".git/config": "", "git/config": "", here + "/../secret": "", "-": "", "none": "",
	} {
		found, err := confine([]string{here, repository}, name)
		require.Equal(t, want, found, name)
		require.Equal(t, want == "", err != nil, name)
	}
	for name, says := range map[string]string{
		"none": "does not exist", "dangling": "does not exist", "../none": "outside", "/etc/none": "outside",
	} {
		_, err = confine([]string{here, repository}, name)
		require.ErrorContains(t, err, says, name)
	}
}

func TestAFileElsewhereIsNotValidated(t *testing.T) {
	t.Parallel()
	dir, repository := t.TempDir(), t.TempDir()
	repository, err := filepath.EvalSymlinks(repository)
	require.NoError(t, err)
	status, err := json.Marshal(map[string]any{"environment": map[string]any{"repository": repository}})
	require.NoError(t, err)
	for name, printed := range map[string]string{"status": string(status), "validate": `{"checked": 1}`} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(printed), 0o600))
	}
	program, err := filepath.Abs(filepath.Join("testdata", "printing.sh"))
	require.NoError(t, err)
	client := assistant(t, program, dir)
	for path, want := range map[string]string{
		repository: `{"checked": 1}`, "paths.go": `{"checked": 1}`,
		"/etc/passwd": `"/etc/passwd" is outside the repository of the environment and the current directory of the ` +
			"server\nnext step: name a file or directory below " + here(t) + " or " + repository,
	} {
		answer, err := client.CallTool(t.Context(),
			&mcp.CallToolParams{Name: "validate", Arguments: map[string]any{"path": path}})
		require.NoError(t, err)
		require.Equal(t, want, answer.Content[0].(*mcp.TextContent).Text)
	}
}

func here(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	require.NoError(t, err)
	dir, err = filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	return dir
}
