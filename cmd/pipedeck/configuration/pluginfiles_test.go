// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

// writeFiles writes files, given by their names, into a new directory.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		name = filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o700))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
	return dir
}

func TestThePluginOfADirectoryIsCheckedByTheSchemaNextToItsConfiguration(t *testing.T) {
	t.Parallel()
	const file = "config: {perfix: x}\ndeployTargets: [{name: a, config: {address: b}}]\n"
	dir := writeFiles(t, map[string]string{"piped-plugin.yaml": file, "schema.json": clitest.GreeterSchema})
	name := filepath.Join(dir, "piped-plugin.yaml")
	code, stdout, _ := command(t.Context(), t.TempDir(), "validate", dir)
	require.Equal(t, exit.WrongUsage, code)
	require.Equal(t, name+`:1:10: error: config.perfix: unknown key "perfix" is not read; did you mean "prefix"?
`+name+`:2:36: error: deployTargets[0].config.address: unknown key "address" is not read: the plugin in this `+
		"directory has no options here\nchecked 1 file: 2 errors, 0 warnings\n", stdout)

	dir = writeFiles(t, map[string]string{"piped-plugin.yaml": file, "printed": clitest.GreeterSchema})
	code, stdout, _ = command(t.Context(), t.TempDir(), "validate", dir)
	require.Zero(t, code, "without a schema, the options are not known: %s", stdout)
	program := clitest.PrintingPlugin(t, filepath.Join(dir, "printed"))
	adjacent := filepath.Join(dir, "greeter")
	require.NoError(t, os.Rename(program, adjacent))
	code, stdout, _ = command(t.Context(), t.TempDir(), "validate", dir, "--plugin", "greeter="+adjacent)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stdout, "piped-plugin.yaml:1:10: error: config.perfix: ")

	dir = writeFiles(t, map[string]string{"piped-plugin.yaml": file, "schema.json": "{"})
	code, stdout, _ = command(t.Context(), t.TempDir(), "validate", dir)
	require.Zero(t, code)
	require.Contains(t, stdout, "warning: the options of the plugin are not checked: schema.json next to it: "+
		"the schema is not JSON")
}

func TestFilesOfEveryKindBelowADirectoryAreChecked(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{
		".pipe/analysis.yaml":  templatesOf + "https: {ping: {url: \"http://u\", interval: 1m}}\n",
		".pipe/events.json":    `{"apiVersion": "pipecd.dev/v1beta1", "kind": "EventWatcher", "spec": {}}`,
		"a/app.pipecd.yaml":    clitest.GoodApplication,
		"b/piped-plugin.yaml":  "# nothing yet\n",
		"c/index.yaml":         binariesOf + "linux/amd64: {url: a, sha256: " + strings.Repeat("0a", 32) + "}\n",
		"charts/index.yaml":    "apiVersion: v1\nentries: {}\n",
		"deploy/manifest.yaml": "kind: ConfigMap\ndata: {plugins: sha256}\n",
	})
	code, stdout, stderr := command(t.Context(), t.TempDir(), "validate", "--strict", dir)
	require.Zero(t, code, stdout+stderr)
	require.Equal(t, "checked 5 files: 0 errors, 0 warnings\n", stdout)
}

func TestANumberOfNanosecondsInOptionsIsAWarning(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"app.pipecd.yaml": stagesOf + "{name: WAIT, with: {duration: 10}}\n"})
	code, stdout, _ := command(t.Context(), t.TempDir(), "validate", dir)
	require.Zero(t, code)
	require.Contains(t, stdout, `app.pipecd.yaml:7:39: warning: spec.pipeline.stages[0].with.duration: 10 without a `+
		`unit means nanoseconds; did you mean "10s"?`)
}
