// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package reattach

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTargetsAreReadAsPluginsPrintThem(t *testing.T) {
	t.Parallel()
	targets, err := ParseAll("greeter=127.0.0.1:43211,pid=4711,token=KDJ3; other ;third=[::1]:5")
	require.NoError(t, err)
	require.Equal(t, []Target{
		{Plugin: "greeter", Address: "127.0.0.1:43211", PID: 4711, Token: "KDJ3"},
		{Plugin: "other"},
		{Plugin: "third", Address: "[::1]:5"},
	}, targets)
	none, err := ParseAll("")
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestTextsThatNameNoProcessOfThisMachineAreRefused(t *testing.T) {
	t.Parallel()
	for text, why := range map[string]string{
		"=127.0.0.1:1":                 "no name",
		"../x":                         "no name",
		"a=10.0.0.1:1,token=SECRET":    "on this machine",
		"a=localhost.evil:1":           "on this machine",
		"a=127.0.0.1":                  "not an address",
		"a=127.0.0.1:0":                "not a port",
		"a=127.0.0.1:1,pid=-1":         "not the number of a process",
		"a=127.0.0.1:1,colour=blue":    "neither pid nor token",
		"a;a=127.0.0.1:1":              "two processes",
		"a=127.0.0.1:1,token=SECRET,x": "neither",
	} {
		_, err := ParseAll(text)
		require.ErrorContains(t, err, why, text)
		require.NotContains(t, err.Error(), "SECRET")
	}
}

func TestTheFileOfTargetsIsForItsUserAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "targets.json")
	require.NoError(t, WriteFile(path, "a", &Target{Address: "127.0.0.1:1", Token: "T"}))
	require.NoError(t, WriteFile(path, "b", nil))
	targets, err := ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, map[string]*Target{"a": {Plugin: "a", Address: "127.0.0.1:1", Token: "T"}, "b": nil}, targets)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	require.NoError(t, os.Chmod(path, 0o644))
	_, err = ReadFile(path)
	require.ErrorContains(t, err, "others than you")
	require.NoError(t, os.WriteFile(path, []byte(`{"a":{"address":"10.0.0.1:1"}}`), 0o600))
	require.NoError(t, os.Chmod(path, 0o600))
	_, err = ReadFile(path)
	require.ErrorContains(t, err, "on this machine")
}
