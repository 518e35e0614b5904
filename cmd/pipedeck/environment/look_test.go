// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/keymap"
)

// syncKey is the key of sync in every pane.
func syncKey(l *look) string { return l.keys.Map.Key(keymap.Log, keymap.Sync) }

func TestTheKeyFileIsThatOfTheFlagElseOfTheEnvironmentElseOfTheUser(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
	t.Setenv(keysVariable, "")
	none := &look{}
	require.NoError(t, none.read(outputTUI))
	require.Empty(t, none.keys.Map, "no file is no mistake")

	config, err := os.UserConfigDir()
	require.NoError(t, err)
	write := func(path, key string) string {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte("global.sync: ["+key+"]\n"), 0o644))
		return path
	}
	write(filepath.Join(config, "pipedeck", "keys.yaml"), "f5")
	users := &look{}
	require.NoError(t, users.read(outputTUI))
	require.Equal(t, "f5", syncKey(users))

	t.Setenv(keysVariable, write(filepath.Join(dir, "environment.yaml"), "f6"))
	named := &look{}
	require.NoError(t, named.read(outputTUI))
	require.Equal(t, "f6", syncKey(named))

	flag := &look{keyFile: write(filepath.Join(dir, "flag.yaml"), "f7")}
	require.NoError(t, flag.read(outputTUI))
	require.Equal(t, "f7", syncKey(flag))

	missing := &look{keyFile: filepath.Join(dir, "missing.yaml")}
	for _, mode := range []OutputMode{outputPlain, outputTUI} {
		require.ErrorContains(t, missing.read(mode), "missing.yaml", "also where there are no keys")
	}
	t.Setenv(keysVariable, filepath.Join(dir, "missing.yaml"))
	require.NoError(t, (&look{}).read(outputPlain), "the variable is for the UI alone")
}

func TestAThemeThatIsNotThereIsWrongUsageWithEveryOutput(t *testing.T) {
	t.Setenv("PIPEDECK_THEME", "drak")
	l := &look{}
	require.NoError(t, l.read(outputPlain), "the variable is for the UI alone")
	l.screen.theme = "drak"
	require.ErrorContains(t, l.read(outputPlain), `unknown theme "drak"`)
}
