// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/document"
)

func TestTheSchemaForEditorsHasTheOptionsOfThePluginOfAThirdParty(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "schema")
	require.NoError(t, os.WriteFile(file, []byte(clitest.GreeterSchema), 0o600))
	code, stdout, stderr := command(t.Context(), t.TempDir(), "plugin", "schema", "--plugin",
		"greeter="+clitest.PrintingPlugin(t, file))
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, `"GREET"`)
	require.Contains(t, stdout, `"greeter.greet": {`)
	require.Contains(t, stdout, `"K8S_CANARY_ROLLOUT"`)
	code, published, stderr := command(t.Context(), t.TempDir(), "plugin", "schema", "piped")
	require.Zero(t, code, stderr)
	want, err := os.ReadFile("../../../docs/schemas/piped.json")
	require.NoError(t, err)
	require.Equal(t, string(want), published)
	code, stdout, stderr = command(t.Context(), t.TempDir(), "plugin", "schema", "piped", "-o", "json")
	require.Zero(t, code, stderr)
	var printed document.EditorSchema
	clitest.Document(t, "plugin-schema", stdout, &printed)
	require.Equal(t, "piped", printed.Configuration)
	require.Contains(t, printed.Plugins, "kubernetes")
	require.JSONEq(t, string(want), string(printed.JSONSchema))
	code, _, _ = command(t.Context(), t.TempDir(), "plugin", "schema", "other")
	require.Equal(t, exit.WrongUsage, code)
}
