// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package gobuild_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/gobuild"
)

// Packages are compiled twice for one flag that differs.
func TestTheMakefileAndTheScriptHaveTheSameFlags(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Makefile", "tools/build.sh"} {
		content, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
		require.NoError(t, err)
		for _, flag := range gobuild.Flags() {
			// Packages do not depend on these.
			if strings.HasPrefix(flag, "-p=") || strings.HasPrefix(flag, "-ldflags") {
				continue
			}
			require.Contains(t, string(content), flag, name)
		}
	}
}

func TestWhatTheUserHasSetForCompilersStays(t *testing.T) {
	names := []string{"GOGC", "GOMEMLIMIT", "GOMAXPROCS"}
	for _, name := range names {
		t.Setenv(name, "7")
	}
	for _, variable := range gobuild.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		require.NotContains(t, names, name)
	}
	isParallel := func(flag string) bool { return strings.HasPrefix(flag, "-p=") }
	require.False(t, slices.ContainsFunc(gobuild.Flags(), isParallel))
}

func TestAPluginHasTablesForDebuggersWhenItsAuthorWantsThem(t *testing.T) {
	t.Parallel()
	const withoutTables = "-gcflags=all=-dwarf=false"
	const withoutSymbols = "-ldflags=-s -w"
	flags, _ := gobuild.Shared(false, "")
	require.Subset(t, flags, []string{withoutTables, withoutSymbols})
	flags, _ = gobuild.Shared(false, "'-gcflags=all=-N -l'")
	require.NotContains(t, flags, withoutTables)
	require.NotContains(t, flags, withoutSymbols)
	flags, _ = gobuild.Shared(false, "'-ldflags=-X main.version=1'")
	require.Contains(t, flags, withoutTables)
	require.NotContains(t, flags, withoutSymbols, "the last one would replace that of the user")
	flags, _ = gobuild.Debug("example.com/plugin", "")
	require.NotContains(t, flags, withoutSymbols)
}

func TestADebuggerCanFollowAProgramWhateverTheUserHasSet(t *testing.T) {
	t.Parallel()
	const own = "-gcflags=example.com/plugin/...=-N -l"
	for user, given := range map[string][]string{
		"":                                      {own},
		"-mod=mod -gcflags=all=-dwarf=false -v": {"-gcflags=all=", own},
		"'-gcflags=all=-m -dwarf=0' \"--gcflags=-S\"": {"-gcflags=all=-m ", "-gcflags=-S", own},
		"'-ldflags=-s -w -X main.version=1' -count=1": {"-ldflags=-s -w -X main.version=1 -s=0 -w=0", own},
	} {
		flags, _ := gobuild.Debug("example.com/plugin", user)
		flags = slices.DeleteFunc(flags, func(flag string) bool {
			return !strings.HasPrefix(flag, "-gcflags") && !strings.HasPrefix(flag, "-ldflags")
		})
		require.Equal(t, given, flags, user)
	}
}

func TestABuildOfOnePackageLeavesTheLinkerAllCores(t *testing.T) {
	t.Parallel()
	environ := []string{"GOGC=off", "GOMAXPROCS=1", "CGO_ENABLED=0"}
	require.Equal(t, []string{"GOGC=off", "CGO_ENABLED=0"}, gobuild.Alone(environ))
	require.Len(t, environ, 3, "the caller keeps its own")
	require.Equal(t, []string{"GOMAXPROCS=3"}, gobuild.Alone([]string{"GOMAXPROCS=3"}))
}
