// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/format"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/document"
)

func TestAPluginIsShownWithItsBuildAndItsLastExits(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(append(decktest.Running(), decktest.Crashed())...)
	stateDir, _ := running(t, server)
	run := func(args ...string) string {
		t.Helper()
		code, stdout, stderr := command(t.Context(), stateDir, args...)
		require.Zero(t, code, stderr)
		return stdout
	}
	all := run("plugins", "-o", "wide")
	for _, want := range []string{"4c1f0e9a2b7d", "v0.2.0", "CRASHES", "RELOADS", "RESTARTS"} {
		require.Contains(t, all, want)
	}
	require.NotContains(t, all, "nil map")
	one := run("plugins", "greeter")
	for _, want := range []string{
		"panic: assignment to entry in nil map", "stage.go:31", "exited with code 2", "0aa1f0e9a2b7",
		"stack of the last exit:\n  main.(*greeter).work /src/greeter/stage.go:31\n",
	} {
		require.Contains(t, one, want)
	}
	require.NotContains(t, one, "kubernetes")
	require.Contains(t, run("plugins", "kubernetes"), "no exits since piped started")

	var plugins document.Plugins
	clitest.Document(t, "plugins", run("plugins", "greeter", "-o", "json"), &plugins)
	require.Len(t, plugins.Plugins, 1)
	greeter := plugins.Plugins[0]
	require.Equal(t, "4c1f0e9a2b7d", greeter.Build.Hash)
	require.EqualValues(t, 2, greeter.Reloads)
	require.Equal(t, "stage.go:31", greeter.Exits[1].Place)
	require.InDelta(t, 5, greeter.Exits[1].Uptime, 0)

	code, _, stderr := command(t.Context(), stateDir, "plugins", "greetr")
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "greetr")
}

func TestALongErrorOfAnExitIsShownInOneLine(t *testing.T) {
	t.Parallel()
	p := &deckv1.Plugin{Name: "greeter", Exits: []*deckv1.PluginExit{{
		Reason: "exited with code 1", Error: strings.Repeat("no moon ", 100) + "\nnor a star",
	}}}
	var out strings.Builder
	require.NoError(t, printExits(&out, p, &format.Output{}))
	require.Contains(t, out.String(), strings.Repeat("no moon ", 15)+"…")
	require.NotContains(t, out.String(), "nor a star")
	require.Less(t, len(out.String()), 400)
}
