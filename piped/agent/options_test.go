// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
)

func TestOptionsThatNoPluginReadsAreLoggedAndNothingIsRefused(t *testing.T) {
	t.Parallel()
	const text = `apiVersion: pipecd.dev/v1beta1
kind: Piped
spec:
  projectID: p
  pipedID: i
  pipedKeyFile: key
  apiAddress: localhost:1
  plugins:
    - {name: wait, url: "file:///wait", port: 0, config: {alowSkip: true}}
    - {name: other, url: "file:///other", port: 0, config: {anything: true}}
`
	piped, err := config.ParsePiped([]byte(text), "piped.yaml")
	require.NoError(t, err)
	require.Empty(t, piped.Warnings)
	var log bytes.Buffer
	o := newPluginOptions(piped, slog.New(slog.NewTextHandler(&log, nil)))
	application := []byte("apiVersion: pipecd.dev/v1beta1\nkind: Application\nspec:\n  name: a\n  pipeline:\n" +
		"    stages:\n" +
		"      - {name: WAIT, with: {duration: 1s, durtion: 2s}}\n      - {name: OTHER, with: {anything: 1}}\n")
	mistakes := func(configuration []byte) config.Errors {
		errors, warnings := o.application(configuration, "web/app.pipecd.yaml")
		require.Empty(t, warnings)
		return errors
	}
	require.Empty(t, mistakes(application), "no plugin has described its options yet")

	shipped, err := os.ReadFile("../../plugins/wait/schema.json")
	require.NoError(t, err)
	for range 2 {
		o.described("wait", shipped)
	}
	require.Equal(t, 1, strings.Count(log.String(), "level=WARN"), log.String())
	require.Contains(t, log.String(),
		`piped.yaml:9:59: spec.plugins[0].config.alowSkip: unknown key \"alowSkip\" is not read; `+
			`did you mean \"allowSkip\"?`)
	o.described("other", nil)
	require.EqualError(t, mistakes(application),
		`web/app.pipecd.yaml:7:43: spec.pipeline.stages[0].with.durtion: unknown key "durtion" is not read; `+
			`did you mean "duration"?`)
	require.Empty(t, mistakes([]byte("spec: [")),
		"the deployment fails by what is wrong with it")

	o.described("other", []byte("{"))
	require.Contains(t, log.String(), "its schema cannot be used")
	require.Len(t, mistakes(application), 1)
}
