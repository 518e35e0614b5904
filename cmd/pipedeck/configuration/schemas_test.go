// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

// printing is a program of a plugin in another language, which prints a file when it is asked for its schema.
func TestThePluginOfAThirdPartyIsCheckedByTheSchemaThatItPrints(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	program := clitest.PrintingPlugin(t, write("schema", clitest.GreeterSchema))
	app := write("app.pipecd.yaml", `apiVersion: pipecd.dev/v1beta1
kind: Application
spec:
  name: web
  pipeline:
    stages:
      - name: GREET
        with: {names: Ada, tone: wram, nmaes: [Ada]}
      - name: GREAT
`)
	piped := write("piped.yaml", `apiVersion: pipecd.dev/v1beta1
kind: Piped
spec:
  projectID: a
  pipedID: b
  pipedKeyFile: c
  apiAddress: d:1
  plugins:
    - {name: greeter, url: "file:///greeter", port: 0, config: {perfix: x}}
`)
	want := app + `:8:23: error: spec.pipeline.stages[0].with.names: "Ada" is not allowed here: want a list
` + app + `:8:34: error: spec.pipeline.stages[0].with.tone: "wram" is not allowed here: want warm or cold; ` +
		`did you mean "warm"?
` + app + `:8:40: error: spec.pipeline.stages[0].with.nmaes: unknown key "nmaes" is not read; did you mean "names"?
`
	code, stdout, _ := command(t.Context(), t.TempDir(), "validate", app, "--plugin", "greeter="+program)
	require.Equal(t, exit.WrongUsage, code)
	require.Equal(t, want+app+
		`:9:15: error: spec.pipeline.stages[1].name: no plugin of PipeCD has the stage "GREAT"; did you mean "GREET"?
checked 1 file: 4 errors, 0 warnings
`, stdout)

	code, stdout, _ = command(t.Context(), t.TempDir(), "validate", dir, "--plugin", "greeter="+program)
	require.Equal(t, exit.WrongUsage, code)
	require.Equal(t, want+app+`:9:15: error: spec.pipeline.stages[1].name: no plugin in spec.plugins of `+piped+
		` has the stage "GREAT"; did you mean "GREET"?
`+piped+`:9:65: error: spec.plugins[0].config.perfix: unknown key "perfix" is not read; did you mean "prefix"?
checked 2 files: 5 errors, 0 warnings
`, stdout)

	silent := clitest.PrintingPlugin(t, write("empty", ""))
	code, stdout, stderr := command(t.Context(), t.TempDir(), "validate", app, "--plugin", "greeter="+silent)
	require.Zero(t, code, stdout)
	require.Equal(t, "checked 1 file: 0 errors, 0 warnings\n", stdout)
	require.Equal(t, "warning: the options of the plugin greeter are not checked: its program does not print a "+
		"schema\n", stderr)

	wrong := clitest.PrintingPlugin(t, write("wrong", "{"))
	code, _, stderr = command(t.Context(), t.TempDir(), "validate", app, "--plugin", "greeter="+wrong)
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "plugin greeter: the schema is not JSON")
}
