// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// printing is a program of a plugin in another language, which prints a file when it is asked for its schema.
func printing(t *testing.T, file string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "plugin")
	script := "#!/bin/sh\n[ \"$*\" = schema ] && exec cat '" + file + "'\nexit 1\n"
	require.NoError(t, os.WriteFile(program, []byte(script), 0o700))
	return program
}

const greeterSchema = `{"definitions": {
	"config": {"type": "object", "additionalProperties": false, "properties": {"prefix": {"type": "string"}}},
	"stages": {"properties": {"GREET": {"$ref": "#/definitions/greet"}}},
	"greet": {"type": "object", "additionalProperties": false, "required": ["names"],
		"properties": {"names": {"type": "array", "items": {"type": "string"}}, "tone": {"enum": ["warm", "cold"]}}}
}}`

func TestThePluginOfAThirdPartyIsCheckedByTheSchemaThatItPrints(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	program := printing(t, write("schema", greeterSchema))
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
` + app + `:8:34: error: spec.pipeline.stages[0].with.tone: "wram" is not allowed here: want warm or cold; did you mean "warm"?
` + app + `:8:40: error: spec.pipeline.stages[0].with.nmaes: unknown key "nmaes" is not read; did you mean "names"?
`
	code, stdout, _ := command(t.Context(), t.TempDir(), "validate", app, "--plugin", "greeter="+program)
	require.Equal(t, exitUsage, code)
	require.Equal(t, want+app+`:9:15: error: spec.pipeline.stages[1].name: no plugin of PipeCD has the stage "GREAT"; did you mean "GREET"?
checked 1 file: 4 errors, 0 warnings
`, stdout)

	code, stdout, _ = command(t.Context(), t.TempDir(), "validate", dir, "--plugin", "greeter="+program)
	require.Equal(t, exitUsage, code)
	require.Equal(t, want+app+`:9:15: error: spec.pipeline.stages[1].name: no plugin in spec.plugins of `+piped+` has the stage "GREAT"; did you mean "GREET"?
`+piped+`:9:65: error: spec.plugins[0].config.perfix: unknown key "perfix" is not read; did you mean "prefix"?
checked 2 files: 5 errors, 0 warnings
`, stdout)

	silent := printing(t, write("empty", ""))
	code, stdout, stderr := command(t.Context(), t.TempDir(), "validate", app, "--plugin", "greeter="+silent)
	require.Zero(t, code, stdout)
	require.Equal(t, "checked 1 file: 0 errors, 0 warnings\n", stdout)
	require.Equal(t, "warning: the options of the plugin greeter are not checked: its program does not print a "+
		"schema\n", stderr)

	wrong := printing(t, write("wrong", "{"))
	code, _, stderr = command(t.Context(), t.TempDir(), "validate", app, "--plugin", "greeter="+wrong)
	require.Equal(t, exitUsage, code)
	require.Contains(t, stderr, "plugin greeter: the schema is not JSON")
}

func TestUpRefusesKeysThatNothingReads(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		goodApplication +
			"  lables: {a: b}\n": `app.pipecd.yaml:6:3: spec.lables: unknown key "lables" is not read; did you mean "labels"?`,
		"apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: web\n" +
			"  pipeline: {stages: [{name: WIAT}]}\n": `:5:30: ` +
			`spec.pipeline.stages[0].name: no plugin in the plugins of this environment has the stage "WIAT"; did you mean "WAIT"?`,
	} {
		nothing, err := exec.LookPath("true")
		require.NoError(t, err)
		args := []string{"up", repository(t, text), "--cluster", "none", "--name", "test", "--output", "plain",
			"--piped", nothing}
		for _, name := range []string{"wait", "waitapproval", "scriptrun"} {
			schema, err := filepath.Abs(filepath.Join("../../plugins", name, "schema.json"))
			require.NoError(t, err)
			args = append(args, "--plugin", name+"="+printing(t, schema))
		}
		code, _, stderr := command(t.Context(), filepath.Join(t.TempDir(), "state"), args...)
		require.Equal(t, exitUsage, code, stderr)
		require.Contains(t, stderr, says)
		require.Contains(t, stderr, "next step: correct the file, commit it, and run again")
	}
}

func TestTheSchemaForEditorsHasTheOptionsOfThePluginOfAThirdParty(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "schema")
	require.NoError(t, os.WriteFile(file, []byte(greeterSchema), 0o600))
	code, stdout, stderr := command(t.Context(), t.TempDir(), "plugin", "schema", "--plugin",
		"greeter="+printing(t, file))
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, `"GREET"`)
	require.Contains(t, stdout, `"greeter.greet": {`)
	require.Contains(t, stdout, `"K8S_CANARY_ROLLOUT"`)
	code, published, stderr := command(t.Context(), t.TempDir(), "plugin", "schema", "piped")
	require.Zero(t, code, stderr)
	want, err := os.ReadFile("../../docs/schemas/piped.json")
	require.NoError(t, err)
	require.Equal(t, string(want), published)
	code, _, _ = command(t.Context(), t.TempDir(), "plugin", "schema", "other")
	require.Equal(t, exitUsage, code)
}
