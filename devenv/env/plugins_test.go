// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestAPluginIsBuiltFromItsPackageBeforePipedStartsAndAgainWhenItChanges(t *testing.T) {
	t.Parallel()
	source := t.TempDir()
	save := func(name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(source, name), []byte(text), 0o600))
	}
	save("go.mod", "module example.org/moon\n\ngo 1.24\n")
	save("main.go", "package main\n\nfunc main() { moon() }\n")
	w := newWorkspace(t, "run")
	o := options(w)
	o.Plugins = []workspace.Plugin{{Name: "moon", Source: source, URL: "file://" + w.PluginProgram("moon")}}
	r := up(t, o)

	h := watchHealth(t, deck(t, w, r.address))
	await := func(state deckv1.Component_State) *deckv1.Component {
		t.Helper()
		h.until(t, "plugin moon to be "+state.String(),
			func() bool { return h.components["plugin moon"].GetState() == state })
		return h.components["plugin moon"]
	}
	broken := await(deckv1.Component_STATE_FAILED)
	require.Contains(t, broken.GetDetail(), "main.go:3:15: undefined: moon")
	require.Equal(t, "save a corrected file: it is built again", broken.GetHint())
	problem := h.untilProblem(t, "plugin moon", "undefined: moon")
	require.Equal(t, "save a corrected file: it is built again", problem.GetNextStep())
	pids(t, w, 1) // piped starts all the same
	require.NoFileExists(t, w.PluginProgram("moon"))

	save("main.go", "package main\n\nfunc main() {}\n")
	require.Contains(t, await(deckv1.Component_STATE_READY).GetDetail(), "saving a file builds it again")
	require.FileExists(t, w.PluginProgram("moon"))
	h.until(t, "no problem of the plugin", func() bool { return h.problems["component/plugin moon"] == nil })
	save("main.go", "package main\n\nfunc main() { sun() }\n")
	require.Contains(t, await(deckv1.Component_STATE_FAILED).GetHint(), "the plugin runs as it compiled last")
}
