// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package index_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/pluginhost/fetch/index"
)

func parsed(t *testing.T) *index.Index {
	t.Helper()
	data, err := os.ReadFile("testdata/index.yaml")
	require.NoError(t, err)
	x, err := index.Parse(data)
	require.NoError(t, err)
	return x
}

func TestNamesAreResolvedToBinaries(t *testing.T) {
	t.Parallel()
	x := parsed(t)
	for reference, c := range map[string]struct{ platform, version, says string }{
		"canary":               {"linux/amd64", "v1.10.0", ""},
		"canary@v1.9.0":        {"linux/amd64", "v1.9.0", ""},
		"canary@1.9.0":         {"linux/amd64", "v1.9.0", ""},
		"canary@v2.0.0-beta.1": {"linux/amd64", "v2.0.0-beta.1", ""},
		"canary@nightly":       {"linux/amd64", "nightly", ""},
		"plain@v0.10":          {"linux/amd64", "0.10", ""}, // which YAML could take for a number
		"canry": {
			"linux/amd64", "",
			`the index has no plugin "canry"; did you mean canary? (it has: canary, empty, plain, preliminary)`,
		},
		"zzzzzzzz": {"linux/amd64", "", `the index has no plugin "zzzzzzzz" (it has:`},
		"canary@v3": {
			"linux/amd64", "",
			"the index has no version v3 of canary (it has: v2.0.0-beta.1, v1.10.0, v1.9.0, nightly)",
		},
		"canary@v1.10.0": {
			"plan9/mips", "", "canary@v1.10.0 is not there for plan9/mips, only for: darwin/arm64, linux/amd64",
		},
		"preliminary": {
			"linux/amd64", "",
			"the index has no stable version of preliminary (it has: v1.0.0-rc.1); name one of them: " +
				"preliminary@VERSION",
		},
		"empty": {"linux/amd64", "", "no stable version of empty (it has: nothing)"},
	} {
		r, ok := index.ParseReference(reference)
		require.True(t, ok, reference)
		require.Equal(t, reference, r.String())
		version, binary, err := x.Resolve(r, c.platform)
		if c.says != "" {
			require.ErrorContains(t, err, c.says)
			var failed *index.Error
			require.ErrorAs(t, err, &failed)
			continue
		}
		require.NoError(t, err, reference)
		require.Equal(t, c.version, version)
		require.Len(t, binary.SHA256, 64)
	}
}

func TestOnlyNamesAreReferences(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "@v1", "a@", "https://example.com/p", "oci://registry/p:v1@sha256:0", "file:///p", "a/b", "a@b@c", "a b",
		"-a", strings.Repeat("a", 101),
	} {
		_, ok := index.ParseReference(text)
		require.False(t, ok, text)
	}
}

func TestWrongIndexesAreRefused(t *testing.T) {
	t.Parallel()
	digest := strings.Repeat("0a", 32)
	for text, says := range map[string]string{
		"{": "the index cannot be read", "plugins: [a]": "the index cannot be read",
		"formatVersion: 2":   "the version 2 of its format, and 1 is read",
		"plugins: {a/b: {}}": "which cannot be one", "plugins: {a: {versions: {'v 1': {}}}}": "which cannot be one",
		"plugins: {a: {versions: {v1: {linux/amd64: {url: x}}}}}": `a@v1 for "linux/amd64": the ` +
			`sha256 "" is not`,
		"plugins: {a: {versions: {v1: {linux/amd64: {sha256: " + digest + "}}}}}": "it has no url",
		"plugins: {a: {versions: {v1: {linux/amd64: {url: '%', sha256: " + digest +
			"}}}}}": "its url cannot be read",
		"plugins: {a: {versions: {v1: {x: {url: a, signature: ':', sha256: " + digest +
			"}}}}}": "its url cannot be read",
		strings.Repeat(" ", index.MaxSize+1): "larger than 4 MiB",
	} {
		_, err := index.Parse([]byte(text))
		require.ErrorContains(t, err, says)
	}
	x, err := index.Parse(nil)
	require.NoError(t, err, "an empty index is one")
	require.Empty(t, x.Plugins)
}

func TestALongNameIsClippedBetweenCharacters(t *testing.T) {
	t.Parallel()
	name := "/" + strings.Repeat("ä", 100)
	_, err := index.Parse([]byte("plugins: {'" + name + "': {}}"))
	require.ErrorContains(t, err, strings.Repeat("ä", 79)+`…"`)
}

func TestLongListsAreCutOff(t *testing.T) {
	t.Parallel()
	x := &index.Index{Plugins: map[string]index.Plugin{}}
	for i := range 30 {
		x.Plugins[fmt.Sprintf("plugin-%02d", i)] = index.Plugin{}
	}
	_, _, err := x.Resolve(index.Reference{Name: "zzzzzzzzzzzzzzzz"}, "linux/amd64")
	require.ErrorContains(t, err, "plugin-19 and 10 more")
}

func FuzzParse(f *testing.F) {
	data, err := os.ReadFile("testdata/index.yaml")
	require.NoError(f, err)
	f.Add(data)
	f.Add(
		[]byte(
			`{"formatVersion":1,"plugins":{"a":{"versions":{"1.0.0":{"linux/amd64":{"url":"a","sha256":"` +
				strings.Repeat(
					"0", 64,
				) + `"}}}}}}`,
		),
	)
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := index.Parse(data)
		if err != nil {
			return
		}
		for name, plugin := range x.Plugins {
			for _, version := range append(slices.Collect(maps.Keys(plugin.Versions)), "") {
				found, binary, err := x.Resolve(index.Reference{Name: name, Version: version}, "linux/amd64")
				if err == nil {
					require.Contains(t, plugin.Versions, found)
					require.Len(t, binary.SHA256, 64)
				}
			}
		}
	})
}
