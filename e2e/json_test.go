// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/e2e/drive"
	"github.com/pipedeck/pipedeck/system/gittest"
)

// document runs a command that ends with an exit code and prints a document of a schema.
func (e *environment) document(schema string, code int, args ...string) (document map[string]any) {
	e.t.Helper()
	r := e.pipedeck(append(args, "-o", "json")...)
	require.Equal(e.t, code, r.Code, r.Stderr)
	clitest.Document(e.t, schema, r.Stdout, &document)
	return document
}

func TestTheOutputOfARunningEnvironmentIsAsItsSchemasSay(t *testing.T) {
	t.Parallel()
	p := startPast(t)
	p.document("status", 0, "status")
	p.document("applications", 0, "apps")
	p.document("deployments", 0, "deployments")
	p.document("deployments", 0, "history", "web")
	p.document("application-events", 0, "events", "web")
	p.document("plugins", 0, "plugins")
	listed := p.document("environments", 0, "list")["environments"].([]any)
	require.Len(t, listed, 1)
	require.Equal(t, "RUNNING", listed[0].(map[string]any)["state"])
	require.Equal(t, p.dir, listed[0].(map[string]any)["repository"])
	p.document("plan-preview", 0, "plan-preview")
	p.document("registered-piped", 0, "piped", "register", "second", "--key-file", t.TempDir()+"/key")
	p.document("action", 0, "sync", "web")
	p.document("action", 0, "restart", "scriptrun")

	r := p.pipedeck("logs", "web", "-o", "json")
	require.Zero(t, r.Code, r.Stderr)
	require.NotZero(t, clitest.Lines(t, r.Stdout))
	r = p.pipedeck("logs", "--plugin", "scriptrun", "-o", "json")
	require.NotZero(t, clitest.Lines(t, r.Stdout))

	for _, form := range []string{"yaml", "name", "wide"} {
		require.NotEmpty(t, p.pipedeck("apps", "-o", form).Stdout)
	}
	require.Equal(t, "other\nweb\n", p.pipedeck("apps", "-o", "name").Stdout)

	gittest.Run(t, p.dir, "checkout", "-q", "-b", "elsewhere") // also what CI prints
	ci := newEnvironment(t)
	run, err := drive.Run(ci.command("ci", p.dir, "--cluster", "none", "--output", "json"))
	require.NoError(t, err)
	require.Zero(t, run.Code, run.Stderr)
	var kinds []string
	for line := range strings.Lines(run.Stdout) {
		var head struct{ Type string }
		require.NoError(t, json.Unmarshal([]byte(line), &head))
		kinds = append(kinds, head.Type)
	}
	require.Equal(t, "result", kinds[len(kinds)-1])
	require.Equal(t, len(kinds), clitest.Lines(t, run.Stdout))

	p.document("removal", 0, "down")
	require.Empty(t, p.document("environments", 0, "list")["environments"])
}
