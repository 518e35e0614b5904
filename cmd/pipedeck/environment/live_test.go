// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestLiveIsAskedForWhenTheEnvironmentIsStarted(t *testing.T) {
	t.Parallel()
	w, err := workspace.At(t.TempDir(), "demo")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	live := &Flags{live: true}
	require.NoError(t, live.checkSameMode(w, nil), "one that is just starting")
	require.NoError(t, w.Publish(workspace.Running{PID: 1, Address: "127.0.0.1:1"}))
	require.ErrorContains(t, live.checkSameMode(w, nil), `environment "demo" is running and deploys commits only`)
	var failure *exit.Error
	require.ErrorAs(t, live.checkSameMode(w, nil), &failure)
	flags := " --name demo --state-dir " + filepath.Dir(w.Dir)
	require.Equal(t, "end it first: pipedeck down"+flags+"; then pipedeck up --live"+flags, failure.Hint)
	require.NoError(t, (&Flags{}).checkSameMode(w, nil))
	require.NoError(t, w.Publish(workspace.Running{PID: 1, Address: "127.0.0.1:1", Live: true}))
	require.NoError(t, live.checkSameMode(w, nil))
	require.Contains(t, live.arguments(), "--live", "the host gets the flag")
	require.NotContains(t, (&Flags{}).arguments(), "--live")
}

func TestLiveIsAskedForWithTheOtherFlagsOfTheEnvironment(t *testing.T) {
	t.Parallel()
	w, err := workspace.At(t.TempDir(), "demo")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	require.NoError(t, w.Publish(workspace.Running{PID: 1, Restart: &workspace.Restart{Directory: "/src",
		Arguments: []string{"--cluster=embedded", "--sample=hello-world", "--"}}}))
	flags, cmd := &Flags{}, &cobra.Command{Use: "up"}
	flags.Register(cmd)
	flags.registerLive(cmd)
	require.NoError(t, cmd.ParseFlags([]string{"--live"}))
	var failure *exit.Error
	require.ErrorAs(t, flags.checkSameMode(w, nil), &failure)
	demo := " --name demo --state-dir " + filepath.Dir(w.Dir)
	require.Equal(t, "end it first, which also deletes your commits in its sample repository: pipedeck down"+demo+
		"; then pipedeck up"+demo+" --live --cluster=embedded --sample=hello-world", failure.Hint)
}
