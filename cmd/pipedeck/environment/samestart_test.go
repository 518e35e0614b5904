// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestFlagsThatARunningEnvironmentWasNotStartedWithAreRefused(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	require.NoError(t, err)
	root := t.TempDir()
	w, err := workspace.At(root, "demo")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	require.NoError(t, w.Publish(workspace.Running{PID: 1, Address: "127.0.0.1:1",
		Clusters: map[string]string{workspace.TargetName: "kind"},
		Restart: &workspace.Restart{Directory: "/src", Arguments: []string{"--cluster=auto", "--node-image=node:1",
			"--plugin=mine=./mine", "--plugin=theirs=https://example.com/theirs", "--plugin-config=mine=/etc/mine",
			"--piped=" + filepath.Join(here, "piped"), "--", "app"}}}))
	const demo = " --name demo --state-dir "
	const others = " --plugin=theirs=https://example.com/theirs"
	const mine = " --plugin=mine=/src/mine"
	const configured = " --plugin-config=mine=/etc/mine"
	piped := " --piped=" + filepath.Join(here, "piped")
	all := mine + others + configured + piped
	for name, c := range map[string]struct {
		flags, args []string
		refused     string // the row of the list
		instead     string // "--apply …" for what is applied
	}{
		"no flags":        {flags: nil},
		"the same":        {flags: []string{"--cluster=auto", "--node-image=node:1", "--plugin=mine=/src/mine"}},
		"what auto chose": {flags: []string{"--cluster=kind"}},
		"consent":         {flags: []string{"--yes"}},
		"the same program from elsewhere": {flags: []string{"--piped=piped",
			"--plugin=theirs=https://example.com/theirs"}},
		"another cluster": {[]string{"--cluster=none"}, nil, "--cluster   local=auto   none",
			"--cluster=none" + all + " /src/app"},
		"another name of the cluster": {[]string{"--cluster=dev=kind", "--plugin=mine=/src/mine"}, nil,
			"--cluster   local=auto   dev=kind", "--cluster=dev=kind" + all + " /src/app"},
		"another image": {[]string{"--node-image=node:2"}, nil, "--node-image   node:1    node:2",
			"--node-image=node:2 --cluster=auto" + all + " /src/app"},
		"another program": {[]string{"--plugin=mine=./mine"}, nil, "--plugin   mine=/src/mine   mine=./mine",
			"--apply --plugin=mine=./mine"},
		"one more plugin": {[]string{"--plugin=wait=/bin/wait"}, []string{"/src/app"},
			"--plugin   -         wait=/bin/wait", "--apply --plugin=wait=/bin/wait /src/app"},
		"a configuration": {[]string{"--plugin-config=mine=x y"}, nil, "--plugin-config   mine=/etc/mine   mine=x y",
			"--apply '--plugin-config=mine=x y'"},
		"an own piped configuration": {[]string{"--piped-config=piped.yaml"}, nil,
			"--piped-config   -         piped.yaml", "--apply --piped-config=piped.yaml"},
		"another agent": {[]string{"--piped=/bin/piped"}, nil,
			"--piped   " + filepath.Join(here, "piped") + "   /bin/piped", "--apply --piped=/bin/piped"},
		"a breakpoint": {[]string{"--break=before WAIT"}, nil, "--break   -         before WAIT",
			"--apply '--break=before WAIT'"},
		"files as they are saved": {[]string{"--live"}, nil, "--live   false     true", "--apply --live"},
		"one that is applied, and one that is not": {[]string{"--live", "--cluster=none"}, nil,
			"--cluster   local=auto   none", "--cluster=none --live" + all + " /src/app"},
		"a sample": {[]string{"--sample=hello-world"}, nil, "--sample   -         hello-world",
			"--sample=hello-world --cluster=auto --node-image=node:1" + all},
		"the current context": {[]string{"--export-kubeconfig"}, nil, "--export-kubeconfig   -         true",
			"--export-kubeconfig --cluster=auto --node-image=node:1" + all + " /src/app"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flags, cmd := &Flags{}, &cobra.Command{Use: "up"}
			flags.Register(cmd)
			flags.registerLive(cmd)
			require.NoError(t, cmd.ParseFlags(c.flags))
			err := flags.checkSameStart(w, c.args)
			if c.refused == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, "environment \"demo\" is running with other flags:\n  FLAG")
			require.ErrorContains(t, err, "\n  "+c.refused)
			var failure *exit.Error
			require.ErrorAs(t, err, &failure)
			require.Equal(t, exit.WrongUsage, failure.Code, "as for another repository")
			const again = "start its process again with these flags, which keeps its clusters, history and keys: "
			const end = "end it first, which deletes its clusters and its history: pipedeck down" + demo
			want := end + root + "; then pipedeck up" + demo + root + " " + c.instead
			if strings.HasPrefix(c.instead, "--apply") {
				want = again + "pipedeck up" + demo + root + " " + c.instead
			}
			require.Equal(t, want+"; or choose another --name", failure.Hint)
		})
	}
}

func TestAnEnvironmentOfSamplesIsStartedInsteadWithThem(t *testing.T) {
	t.Parallel()
	w, err := workspace.At(t.TempDir(), "demo")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	flags, cmd := &Flags{}, &cobra.Command{Use: "up"}
	flags.Register(cmd)
	require.NoError(t, cmd.ParseFlags([]string{"--cluster=kind"}))
	require.NoError(t, flags.checkSameStart(w, nil), "one that is just starting")
	require.NoError(t, w.Publish(workspace.Running{PID: 1, Restart: &workspace.Restart{Directory: "/src",
		Arguments: []string{"--cluster=embedded", "--sample=hello-world", "--"}}}))
	var failure *exit.Error
	require.ErrorAs(t, flags.checkSameStart(w, nil), &failure)
	require.Contains(t, failure.Hint, " --cluster=kind --sample=hello-world; or")

	require.Contains(t, failure.Hint, "end it first, which deletes its clusters and its history: pipedeck down ")
}

// TestAWrongValueIsRefusedForItself has values with which an environment would not start: to end the running one first
// would help no one.
func TestAWrongValueIsRefusedForItself(t *testing.T) {
	t.Parallel()
	repo := clitest.Repository(t, clitest.GoodApplication)
	w, err := workspace.At(t.TempDir(), "demo")
	require.NoError(t, err)
	require.NoError(t, w.Create())
	program, err := os.Executable()
	require.NoError(t, err)
	require.NoError(t, w.Publish(workspace.Running{PID: 1, Restart: &workspace.Restart{Directory: repo,
		Arguments: []string{"--cluster=existing", "--context=dev", "--yes", "--", repo}}}))
	for name, c := range map[string]struct {
		flags         []string
		refused, next string
	}{
		"a sample": {[]string{"--sample", "nope"}, "nope", "up --sample hello-world"},
		"a kind of cluster": {[]string{"--cluster", "bogus"}, `--cluster "bogus" is unknown`,
			"use kind, embedded, existing, none or auto"},
		"a program": {[]string{"--cluster=none", "--piped=" + program, "--plugin", "wait=/nope"},
			"plugin wait: /nope does not exist", "give a program or the directory of a plugin: --plugin wait=PATH"},
		"a configuration": {[]string{"--cluster=none", "--piped=" + program, "--plugin-config", "wait=/nope"},
			"/nope", "give an existing file"},
		"a kind of cluster with --live": {[]string{"--live", "--cluster", "bogus"}, `--cluster "bogus" is unknown`,
			"use kind"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flags, cmd := &Flags{}, &cobra.Command{Use: "up"}
			flags.Register(cmd)
			flags.registerLive(cmd)
			require.NoError(t, cmd.ParseFlags(c.flags))
			var failure *exit.Error
			require.ErrorAs(t, flags.checkSame(t.Context(), w, nil), &failure)
			require.Equal(t, exit.WrongUsage, failure.Code)
			require.ErrorContains(t, failure, c.refused)
			require.Contains(t, failure.Hint, c.next)
			require.NotContains(t, failure.Hint, "pipedeck down")
		})
	}
}

func TestTheCommandForAClusterWithContainersKeepsTheOtherFlags(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	require.NoError(t, err)
	root := t.TempDir()
	w, err := workspace.At(root, "demo")
	require.NoError(t, err)
	flags, cmd := &Flags{}, &cobra.Command{Use: "up"}
	flags.Register(cmd)
	require.NoError(t, cmd.ParseFlags([]string{"--cluster=existing", "--context=prod", "--yes",
		"--plugin=mine=./mine"}))
	command, err := flags.withKind(w, []string{"app"})
	require.NoError(t, err)
	const demo = " --name demo --state-dir "
	require.Equal(t, "pipedeck down"+demo+root+" && cd "+here+" && pipedeck up"+demo+root+
		" --cluster=kind --plugin=mine=./mine app", command)
	require.Equal(t, []string{"existing"}, flags.clusters, "the flags stay as they are")

	command, err = flags.withLocalPods(w, []string{"app"})
	require.NoError(t, err)
	require.Empty(t, command, "they are on")
	require.NoError(t, cmd.ParseFlags([]string{"--local-pods=false"}))
	command, err = flags.withLocalPods(w, []string{"app"})
	require.NoError(t, err)
	require.Contains(t, command, "pipedeck up"+demo+root+" --cluster=existing --context=prod")
	require.NotContains(t, command, "local-pods")
}
