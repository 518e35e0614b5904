// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package keymap_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/tui/keymap"
)

// means returns the action of a key in a place.
func means(m keymap.Map, scope keymap.Scope, key string) keymap.Action {
	b, _ := m.Find(scope, key)
	return b.Action
}

func TestAKeyFileReplacesTheKeysOfAnAction(t *testing.T) {
	t.Parallel()
	file := keymap.Parse([]byte("# mine\nglobal.sync: [x, ctrl+s]\nlog.follow: F\ngraph.follow: ['f6']\n"), "keys.yaml")
	require.Empty(t, file.Mistakes)
	require.Equal(t, keymap.Sync, means(file.Map, keymap.Deployment, "x"))
	require.Equal(t, keymap.Sync, means(file.Map, keymap.Plugins, "ctrl+s"))
	require.Empty(t, means(file.Map, keymap.Deployment, "s"), "the built-in key is free")
	require.Equal(t, keymap.Follow, means(file.Map, keymap.Log, "F"))
	require.Equal(t, keymap.Follow, means(file.Map, keymap.Deployment, "f6"))
	require.Equal(t, keymap.Skip, means(file.Map, keymap.Deployment, "S"), "the others stay")
	require.False(t, file.NeverAsk)
}

func TestTwoActionsCanSwapTheirKeys(t *testing.T) {
	t.Parallel()
	file := keymap.Parse([]byte("global.sync: [c]\nglobal.cancel: [s]\n"), "keys.yaml")
	require.Empty(t, file.Mistakes)
	require.Equal(t, keymap.Sync, means(file.Map, keymap.Log, "c"))
	require.Equal(t, keymap.Cancel, means(file.Map, keymap.Log, "s"))
}

func TestAMistakeInAKeyFileIsReportedWithItsPlaceAndTheBuiltInKeyStays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ content, mistake string }{
		"unknown context": {"grahp.follow: [x]",
			`keys.yaml:1:1: grahp.follow: there is no context "grahp"; there are global`},
		"unknown action": {"\nlog.folow: [x]", `keys.yaml:2:1: log.folow: context log has no action "folow"; ` +
			`there are`},
		"action of another context": {"log.sync: [x]", `keys.yaml:1:1: log.sync: context log has no action "sync"; ` +
			`there is global.sync`},
		"no dot":    {"follow: [x]", `keys.yaml:1:1: follow: is not context.action, such as global.sync`},
		"no key":    {"log.follow: []", "keys.yaml:1:13: log.follow: names no key; the built-in key stays"},
		"a mapping": {"log.follow: {a: b}", "keys.yaml:1:13: log.follow: is not a list of keys, such as [x, ctrl+s]"},
		"not a key": {"log.follow: [f, cmd+x]", `keys.yaml:1:17: log.follow: "cmd+x" is not a key`},
		"a word":    {"log.follow: [xy]", `keys.yaml:1:14: log.follow: "xy" is not a key`},
		"a letter while typing": {"typing.keep: [x]", `keys.yaml:1:15: typing.keep: "x" is typed there; ` +
			`use a key such as enter or ctrl+x`},
		"a fixed key": {"global.interrupt: [x]", "keys.yaml:1:1: global.interrupt: cannot be changed"},
		"conflict with a built-in key": {"global.sync: [x, f]", "keys.yaml:1:18: global.sync: f is taken by the " +
			"built-in key of graph.follow"},
		"conflict in the file": {"global.sync: [x]\nlog.wrap: [X, x]\n", "keys.yaml:2:15: log.wrap: x is taken by " +
			"global.sync at keys.yaml:1:15"},
		"the same action twice": {"log.wrap: [x]\nlog.wrap: [z]\n", "keys.yaml:2:1: log.wrap: stands at " +
			"keys.yaml:1:1 already"},
		"confirm":         {"confirm: maybe", `keys.yaml:1:10: confirm: "maybe" is not ask or never`},
		"not YAML":        {"a: [", "keys.yaml:1:1: not valid YAML"},
		"not a mapping":   {"- a", "keys.yaml:1:1: is not a list of lines such as global.sync: [x]"},
		"two documents":   {"log.wrap: [x]\n---\nlog.wrap: [x]", "keys.yaml:2:1: holds a second document"},
		"an alias":        {"log.wrap: &a [x]\nlog.follow: *a", "keys.yaml:2:13: log.follow: is not a list of keys"},
		"too many keys":   {"log.wrap: [f1, f2, f3, f4, f5, f6, f7, f8, f9]", "keys.yaml:1:11: log.wrap: has 9 keys"},
		"acts on screens": {"log.wrap: [\"\\e[31m\"]", `keys.yaml:1:12: log.wrap: "\x1b[31m" is not a key`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := keymap.Parse([]byte(c.content), "keys.yaml")
			require.Len(t, file.Mistakes, 1)
			require.Contains(t, file.Mistakes[0].Error(), c.mistake)
			require.Equal(t, keymap.Follow, means(file.Map, keymap.Log, "f"))
			require.Equal(t, keymap.Keep, means(file.Map, keymap.Typing, "enter"))
			require.False(t, file.NeverAsk)
		})
	}
}

func TestAMistakeLeavesTheRestOfAKeyFile(t *testing.T) {
	t.Parallel()
	file := keymap.Parse([]byte("log.nonsense: [x]\nglobal.sync: [x]\nglobal.cancel: [f]\n"), "keys.yaml")
	require.Len(t, file.Mistakes, 2)
	require.Equal(t, keymap.Sync, means(file.Map, keymap.Log, "x"))
	require.Equal(t, keymap.Cancel, means(file.Map, keymap.Log, "c"), "the built-in key stays")
	require.Equal(t, keymap.Follow, means(file.Map, keymap.Log, "f"))
}

func TestAKeyThatStaysTakesItBackFromTheFile(t *testing.T) {
	t.Parallel()
	// cancel cannot move to f, so it keeps c, which sync may not take then.
	file := keymap.Parse([]byte("global.cancel: [f]\nglobal.sync: [c]\n"), "keys.yaml")
	require.Len(t, file.Mistakes, 2)
	require.Equal(t, keymap.Cancel, means(file.Map, keymap.Log, "c"))
	require.Equal(t, keymap.Sync, means(file.Map, keymap.Log, "s"))
}

func TestConfirmNeverAsksForNothingButTearDown(t *testing.T) {
	t.Parallel()
	file := keymap.Parse([]byte("confirm: never\n"), "keys.yaml")
	require.Empty(t, file.Mistakes)
	require.True(t, file.NeverAsk)
	for _, b := range file.Map {
		require.Equal(t, b.Action == keymap.Quit, b.Asks, b.Action)
	}
	require.False(t, keymap.Parse([]byte("confirm: ask\n"), "keys.yaml").NeverAsk)
}

func TestAnEmptyKeyFileChangesNothing(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "# nothing\n", "---\n"} {
		file := keymap.Parse([]byte(content), "keys.yaml")
		require.Empty(t, file.Mistakes)
		require.Equal(t, keymap.Default(), file.Map)
	}
}

func TestReadingAKeyFileIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
		return path
	}
	file, err := keymap.Load(write("keys.yaml", "global.sync: [x]"))
	require.NoError(t, err)
	require.Equal(t, keymap.Sync, means(file.Map, keymap.Log, "x"))

	for _, missing := range []string{filepath.Join(dir, "none.yaml"), filepath.Join(dir, "none", "keys.yaml")} {
		_, err = keymap.Load(missing)
		require.ErrorIs(t, err, os.ErrNotExist)
		require.EqualError(t, err, "read key file "+missing+": no such file or directory", "the file is named once")
	}

	file, err = keymap.Load(write("large.yaml", strings.Repeat("#", keymap.MaxSize+1)))
	require.NoError(t, err)
	require.Contains(t, file.Mistakes[0].Error(), "is larger than 64 KiB")
	file, err = keymap.Load(write("many.yaml", strings.Repeat("x.y: [a]\n", 1000)))
	require.NoError(t, err)
	require.LessOrEqual(t, len(file.Mistakes), keymap.MaxMistakes+1)

	_, err = keymap.Load(dir)
	require.EqualError(t, err, "read key file "+dir+": it is not a regular file")

	outside := filepath.Join(t.TempDir(), "other.yaml")
	require.NoError(t, os.WriteFile(outside, []byte("global.sync: [x]"), 0o644))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "out.yaml")))
	_, err = keymap.Load(filepath.Join(dir, "out.yaml"))
	require.ErrorContains(t, err, "a link that leads out of its directory")
	require.NoError(t, os.Symlink("keys.yaml", filepath.Join(dir, "in.yaml")))
	file, err = keymap.Load(filepath.Join(dir, "in.yaml"))
	require.NoError(t, err)
	require.Equal(t, keymap.Sync, means(file.Map, keymap.Log, "x"))
}

func TestEveryBindingThatCanChangeHasItsName(t *testing.T) {
	t.Parallel()
	seen := map[string]keymap.Binding{}
	for _, b := range keymap.Default() {
		name := b.Address()
		if b.Fixed() {
			require.Empty(t, name, b)
			continue
		}
		other, twice := seen[name]
		require.Falsef(t, twice, "%s is %q and %q", name, other.Help, b.Help)
		seen[name] = b
		file := keymap.Parse([]byte(name+": [f12]\n"), "keys.yaml")
		require.Empty(t, file.Mistakes, name)
		require.Equal(t, b.Action, means(file.Map, b.Scopes[0], "f12"), name)
	}
}

func FuzzAKeyFileNeverLosesTheWayOut(f *testing.F) {
	f.Add("global.sync: [x]\nlog.wrap: [x]\n")
	f.Add("global.back: [ctrl+c]\nhelp.back: f1\nconfirm: never")
	f.Fuzz(func(t *testing.T, content string) {
		file := keymap.Parse([]byte(content), "keys.yaml")
		for _, scope := range scopes {
			require.Equal(t, keymap.Interrupt, means(file.Map, scope, "ctrl+c"))
			taken := map[string]bool{}
			for _, b := range file.Map {
				if !b.In(scope) {
					continue
				}
				for _, key := range b.Keys {
					require.False(t, taken[key], key)
					taken[key] = true
				}
			}
		}
	})
}
