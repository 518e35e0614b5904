// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"os"
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
	live, cmd := &Flags{}, &cobra.Command{Use: "up"}
	live.Register(cmd)
	live.registerLive(cmd)
	require.NoError(t, cmd.ParseFlags([]string{"--live"}))
	require.NoError(t, live.checkSameStart(w, nil), "one that is just starting")
	require.NoError(t, w.Publish(workspace.Running{PID: 1, Address: "127.0.0.1:1"}))
	require.ErrorContains(t, live.checkSameStart(w, nil), "--live   false     true")
	var failure *exit.Error
	require.ErrorAs(t, live.checkSameStart(w, nil), &failure)
	flags := " --name demo --state-dir " + filepath.Dir(w.Dir)
	require.Equal(t, "end it first, which deletes its clusters and its history: pipedeck down"+flags+
		"; then pipedeck up"+flags+" --live; or choose another --name", failure.Hint, "its flags are not known")
	require.NoError(t, w.Publish(workspace.Running{PID: 1, Address: "127.0.0.1:1", Live: true}))
	require.NoError(t, live.checkSameStart(w, nil))
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
	require.NoError(t, os.Mkdir(w.SampleRepository(), 0o700))
	demo := " --name demo --state-dir " + filepath.Dir(w.Dir)
	for _, c := range []struct {
		flags, args []string
		instead     string
	}{
		{[]string{"--live"}, nil, "--live"},
		{[]string{"--sample", "hello-world", "--cluster", "embedded", "--live"}, nil,
			"--cluster=embedded --sample=hello-world --live"},
		{[]string{"--live"}, []string{"."}, "--live ."},
	} {
		flags, cmd := &Flags{}, &cobra.Command{Use: "up"}
		flags.Register(cmd)
		flags.registerLive(cmd)
		require.NoError(t, cmd.ParseFlags(c.flags))
		var failure *exit.Error
		require.ErrorAs(t, flags.checkSameStart(w, c.args), &failure)
		require.Equal(t, "start its process again with these flags, which keeps its clusters, history and keys: "+
			"pipedeck up"+demo+" --apply "+c.instead+"; or choose another --name", failure.Hint)
	}
}

func TestLiveKeepsWhatTheUserTypedForAnEnvironmentOfAnotherVersion(t *testing.T) {
	t.Parallel()
	w, err := workspace.At(t.TempDir(), "demo")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	require.NoError(t, w.Publish(workspace.Running{PID: 1}))
	for _, c := range []struct {
		flags, args []string
		instead     string
	}{
		{[]string{"--sample", "hello-world", "--cluster", "embedded", "--live"}, nil,
			" --cluster=embedded --sample=hello-world --live"},
		{[]string{"--live"}, []string{"."}, " --live ."},
	} {
		flags, cmd := &Flags{}, &cobra.Command{Use: "up"}
		flags.Register(cmd)
		flags.registerLive(cmd)
		require.NoError(t, cmd.ParseFlags(c.flags))
		var failure *exit.Error
		require.ErrorAs(t, flags.checkSameStart(w, c.args), &failure)
		require.Regexp(t, "; then pipedeck up --name demo --state-dir [^ ]+"+c.instead+"; or choose another --name$",
			failure.Hint)
	}
}
