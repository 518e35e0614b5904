// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/devenv/workspace"
)

func TestDebuggersGetAddressesThatDiffer(t *testing.T) {
	bin := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(bin, "dlv"), []byte("#!/bin/sh\n"), 0o700))
	t.Setenv("PATH", bin)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	used := strconv.Itoa(taken.Addr().(*net.TCPAddr).Port)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	port := strconv.Itoa(free.Addr().(*net.TCPAddr).Port)
	require.NoError(t, free.Close())

	plugins := []workspace.Plugin{{Name: "wait"}, {Name: "greeter"}}
	require.NoError(t, debug(plugins, []string{"greeter=" + port}))
	require.Equal(t, "127.0.0.1:"+port, plugins[1].Debug)
	require.Empty(t, plugins[0].Debug)

	for given, why := range map[string]string{
		"greter":       "no plugin is named greter",
		"wait=0":       `"0" is not a port`,
		"wait=x":       `"x" is not a port`,
		"wait=" + used: "address already in use",
		"wait=" + port: "is of another plugin",
	} {
		require.ErrorContains(t, debug(plugins, []string{given}), why, given)
	}
	t.Setenv("PATH", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GOBIN", "")
	t.Setenv("GOPATH", "")
	require.ErrorContains(t, debug(plugins, []string{"wait"}), "Delve")
}
