// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// seed adds the files in testdata/seeds.
func seed(f *testing.F) {
	f.Helper()
	names, err := filepath.Glob("testdata/seeds/*.yaml")
	require.NoError(f, err)
	require.NotEmpty(f, names)
	for _, name := range names {
		content, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(content)
	}
}

func FuzzParsePiped(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		piped, err := ParsePiped(data, "f")
		if err != nil {
			places(t, err)
			return
		}
		if _, err := piped.MaskedYAML(); err != nil {
			t.Fatal(err)
		}
		for _, plugin := range piped.Plugins {
			if plugin.Config != nil && !json.Valid(plugin.Config) {
				t.Fatalf("%s is not JSON", plugin.Config)
			}
		}
	})
}

func FuzzParseApplication(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		app, err := ParseApplication(data, "f")
		if err != nil {
			places(t, err)
			return
		}
		for name, raw := range app.Plugins {
			if raw != nil && !json.Valid(raw) {
				t.Fatalf("%s: %s is not JSON", name, raw)
			}
		}
		if app.Pipeline == nil {
			return
		}
		// What was accepted can be run: walking the stages without the ones done ends at none.
		requires, done := app.Pipeline.Requires(), map[int]bool{}
		for range requires {
			for i, needs := range requires {
				ready := true
				for _, j := range needs {
					ready = ready && done[j]
				}
				done[i] = done[i] || ready
			}
		}
		for i := range requires {
			if !done[i] {
				t.Fatalf("stage %d of %v never starts", i, requires)
			}
		}
	})
}

// places fails when a mistake is nowhere in a file.
func places(t *testing.T, err error) {
	t.Helper()
	var list Errors
	require.ErrorAs(t, err, &list)
	for _, one := range list {
		if one.Line < 0 || one.Column < 0 || (one.Line == 0) != (one.Column == 0) || one.Message == "" {
			t.Fatalf("%+v", one)
		}
	}
}
