// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"strings"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func TestAModuleThatIsMissingIsFoundInTheOutput(t *testing.T) {
	t.Parallel()
	for output, want := range map[string][2]string{
		"": {}, "listening": {}, "Error: Cannot open 'x'": {},
		"Traceback (most recent call last):\n  File \"a.py\"\nModuleNotFoundError: No module named 'google'\n": {
			"ModuleNotFoundError: No module named 'google'", "pip install grpcio protobuf"},
		"ModuleNotFoundError: No module named 'boto3.session'\n": {
			"ModuleNotFoundError: No module named 'boto3.session", "pip install boto3,"},
		"  throw err;\n\nError: Cannot find module '@grpc/grpc-js'\nRequire stack:\n- /p/main.js\n\nNode.js v20\n": {
			"Error: Cannot find module '@grpc/grpc-js'", "npm install"},
		"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'yaml' imported from /p/main.js\n": {
			"Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'yaml'", "npm install"},
		"Error: Cannot find module './stage.js'\n": {"Error: Cannot find module './stage.js'", "add the file"},
	} {
		line, next := missingModule(output)
		require.True(t, strings.HasPrefix(line, want[0]) && (line == "") == (want[0] == ""), line)
		require.Contains(t, next, want[1])
	}
}
