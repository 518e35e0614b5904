// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func TestHelpNamesEveryFlagOfPipeCDAndExamples(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"run", "piped"} {
		root, out := rootCommand(), &bytes.Buffer{}
		root.SetOut(out)
		root.SetArgs([]string{command, "--help"})
		require.NoError(t, root.ExecuteContext(t.Context()))
		for _, flag := range []string{
			"config-file", "config-data", "config-gcp-secret", "config-aws-secret", "config-aws-ssm-parameter",
			"insecure", "cert-file", "admin-port",
			"plugin-service-port", "tools-dir", "grace-period", "add-login-user-to-passwd", "launcher-version",
			"force-plugin-redownload",
			"log-level", "log-encoding", "metrics", "profile", "profile-debug-logging", "profiler-credentials-file",
		} {
			require.Contains(t, out.String(), "--"+flag+" ", command)
		}
		require.Contains(t, out.String(), "piped run --config-file piped.yaml")
		require.NotContains(t, out.String(), "app-manifest-cache-count")
	}
}

func TestEveryFlagIsDescribed(t *testing.T) {
	t.Parallel()
	docs, err := os.ReadFile("../../docs/piped.md")
	require.NoError(t, err)
	root := rootCommand()
	run, _, err := root.Find([]string{"run"})
	require.NoError(t, err)
	described := func(f *pflag.Flag) { require.Contains(t, string(docs), "`--"+f.Name+"`") }
	run.LocalFlags().VisitAll(described)
	root.PersistentFlags().VisitAll(described)
}

func TestWrongWordsAreWrongUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"frobnicate"}, {"run", "extra"}, {"version", "extra"}, {"run", "--nope"}} {
		root := rootCommand()
		root.SetArgs(args)
		var usage *usageError
		require.ErrorAs(t, root.ExecuteContext(t.Context()), &usage, "%v", args)
		require.ErrorContains(t, usage, "--help")
	}
	root, out := rootCommand(), &bytes.Buffer{}
	root.SetOut(out)
	root.SetArgs([]string{})
	require.NoError(t, root.ExecuteContext(t.Context()))
	require.Contains(t, out.String(), "Available Commands")
}
