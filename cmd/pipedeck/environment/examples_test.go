// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/session"
)

func TestTheExamplesOfWorkflowsUseFlagsThatExist(t *testing.T) {
	t.Parallel()
	ci := newCICommand(&session.Target{})
	names, err := filepath.Glob("../../../docs/ci/*")
	require.NoError(t, err)
	require.Len(t, names, 4)
	for _, name := range names {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		if strings.HasSuffix(name, ".yml") {
			var parsed map[string]any
			require.NoError(t, yaml.Unmarshal(content, &parsed), name)
		}
		command := regexp.MustCompile(`pipedeck ci [^\n']*`).FindString(string(content))
		require.NotEmpty(t, command, name)
		for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(command, -1) {
			require.NotNil(t, ci.Flags().Lookup(strings.TrimPrefix(flag, "--")), "%s: %s", name, flag)
		}
	}
}
