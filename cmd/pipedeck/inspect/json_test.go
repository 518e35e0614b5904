// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/reader"
	"github.com/pipedeck/pipedeck/tui/state"
)

func TestListsAreDocumentsWithTheWordsOfTheTables(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	stateDir, _ := running(t, server)
	run := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := command(t.Context(), stateDir, args...)
		require.Zero(t, code, stderr)
		return stdout
	}
	var apps document.Applications
	clitest.Document(t, "applications", run("apps", "-o", "json"), &apps)
	require.Equal(t, "DEPLOYING", apps.Applications[0].Sync)
	var deployments document.Deployments
	clitest.Document(t, "deployments", run("deployments", "-o", "json"), &deployments)
	first := deployments.Deployments[0]
	require.Equal(t, "RUNNING", first.Status)
	require.Equal(t, "8b21f00cafe5", first.Commit)
	stages := *first.Stages
	require.Equal(t, "WAIT_APPROVAL RUNNING", stages[2].Name+" "+stages[2].Status)
	require.Equal(t, []string{"s2"}, stages[2].Requires)
	require.EqualValues(t, 1, stages[2].Attempt)
	var plugins document.Plugins
	clitest.Document(t, "plugins", run("plugins", "-o", "json"), &plugins)
	require.NotEmpty(t, plugins.Plugins)
	require.Equal(t, "RUNNING", plugins.Plugins[0].State)

	require.Equal(t, "hello-world\n", run("apps", "-o", "name"))
	require.Equal(t, "dep-1\n", run("deployments", "-o", "name"))
	require.Contains(t, run("apps", "-o", "yaml"), "schema: 1\napplications:\n  - id: app-1\n    name: hello-world\n")
	require.NotContains(t, run("apps"), "TARGETS")
	require.Contains(t, run("apps", "-o", "wide"), "TARGETS")
	require.NotContains(t, run("apps", "--no-headers"), "SYNC")
	require.Equal(t, 1, strings.Count(run("apps", "--no-headers"), "\n"))
}

func TestApplicationsOfSeveralRepositoriesShowTheirRepository(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		repositories []string
		shown        bool
	}{{[]string{"", "local"}, false}, {[]string{"second", "second"}, false}, {[]string{"", "second"}, true}} {
		server := decktest.Start(t)
		server.Publish(decktest.Environment())
		for i, repository := range c.repositories {
			app := decktest.Application()
			app.Id, app.Name, app.RepositoryId = string(rune('a'+i)), "app-"+string(rune('a'+i)), repository
			server.Publish(app)
		}
		stateDir, _ := running(t, server)
		code, stdout, stderr := command(t.Context(), stateDir, "apps", "-o", "wide")
		require.Zero(t, code, stderr)
		require.Equal(t, c.shown, strings.Contains(stdout, "REPOSITORY"), stdout)
		if c.shown {
			require.Regexp(t, `(?m)^local +app-a .*\n^second +app-b `, stdout)
		}
		code, stdout, stderr = command(t.Context(), stateDir, "apps", "-o", "json")
		require.Zero(t, code, stderr)
		var apps document.Applications
		clitest.Document(t, "applications", stdout, &apps)
		require.Equal(t, cmp.Or(c.repositories[0], "local"), apps.Applications[0].Repository)
	}
}

func TestListsOfNothingAreEmptyDocuments(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Environment())
	stateDir, _ := running(t, server)
	for list, name := range map[string]string{"apps": "applications", "deployments": "deployments",
		"plugins": "plugins"} {
		code, stdout, stderr := command(t.Context(), stateDir, list, "-o", "json")
		require.Zero(t, code, stderr)
		var decoded map[string]any
		clitest.Document(t, name, stdout, &decoded)
		require.Equal(t, []any{}, decoded[name])
	}
	code, stdout, stderr := command(t.Context(), t.TempDir(), "apps", "-o", "json")
	require.Equal(t, exit.NotStarted, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "next step: ")
}

func TestAnOpenedApplicationIsADocument(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	stateDir, _ := running(t, server)
	code, stdout, stderr := command(t.Context(), stateDir, "open", "hello", "-o", "json")
	require.Zero(t, code, stderr)
	var opened document.Opened
	clitest.Document(t, "opened", stdout, &opened)
	require.Equal(t, "http://127.0.0.1:34567", opened.URL)
	require.Equal(t, "hello-world", opened.App)
	code, stdout, _ = command(t.Context(), stateDir, "open", "dep-1")
	require.Zero(t, code, "a deployment names its application")
	require.Equal(t, "http://127.0.0.1:34567\n", stdout)
}

func TestLogsAreTheEventLines(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	server.Log("s1", deckv1.Severity_SEVERITY_ERROR, "one\x1b[2J", "two")
	server.CompleteLog("s1")
	server.CompleteLog("s2")
	stateDir, w := running(t, server)
	code, stdout, stderr := command(t.Context(), stateDir, "logs", "dep", "K8S_CANARY_R", "-o", "json")
	require.Zero(t, code, stderr)
	require.Equal(t, 2, clitest.Lines(t, stdout))
	var line document.LogLine
	require.NoError(t, json.Unmarshal([]byte(stdout[:strings.Index(stdout, "\n")]), &line))
	require.Equal(t, document.Log{Deployment: "dep-1", Stage: "s1", StageName: "K8S_CANARY_ROLLOUT", Severity: "ERROR",
		Text: "one\x1b[2J"}, line.Log)
	require.NotContains(t, stdout, "\x1b")

	require.NoError(t, os.WriteFile(filepath.Join(w.PluginLogsDir(), "wait.log"), []byte("a\nb"), 0o600))
	code, stdout, stderr = command(t.Context(), stateDir, "logs", "--plugin", "wa", "-o", "json")
	require.Zero(t, code, stderr)
	require.Equal(t, 2, clitest.Lines(t, stdout))
	require.Contains(t, stdout, `{"type":"plugin_log","schema":1,"plugin":"wait","text":"b"}`)
}

func TestEventLinesAreAsTheirSchemaSays(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	for _, p := range decktest.Problems() {
		server.Publish(p)
	}
	server.Log("s1", deckv1.Severity_SEVERITY_INFO, "one")
	server.Publish(decktest.Failed())
	var out strings.Builder
	require.NoError(t, reader.JSON(t.Context(), server.Dial(t), &out, reader.Options{Until: func(d *state.Deck) bool {
		settled, _, _ := d.SettledAt(func(*deckv1.Application, string) bool { return true })
		return settled
	}}))
	require.NoError(t, reader.Result(&out, 1, "it failed"))
	require.Greater(t, clitest.Lines(t, out.String()), 10)
	for _, kind := range []string{"component", "application", "deployment", "stage", "plugin", "problem", "result"} {
		require.Contains(t, out.String(), `"type":"`+kind+`","schema":1`)
	}
}

func TestAPreviewIsADocument(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	require.NoError(t, clitest.JSON(t).Document(&out, document.NewPlanPreview(decktest.ExamplePreview().GetResult())))
	var preview document.PlanPreview
	clitest.Document(t, "plan-preview", out.String(), &preview)
	require.NotEmpty(t, preview.Applications)
}
