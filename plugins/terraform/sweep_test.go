// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAStartDeletesOldPlansAndNothingElse(t *testing.T) {
	t.Parallel()
	const day, hour = 24 * time.Hour, time.Hour
	p := newPlugin()
	p.workDir = filepath.Join(t.TempDir(), "work [1]")
	ages := map[string]time.Duration{
		"plans/old/here.tfplan":                2 * day,
		"plans/old/here.rest.tfplan":           2 * day,
		"plans/old/here.json":                  2 * day,
		"plans/ancient/here.json":              15 * day,
		"plans/new/here.tfplan":                hour,
		"plans/notes.tfplan":                   30 * day,
		"plans/theirs/notes.txt":               30 * day,
		"data/drift/app/here/look.tfplan":      2 * day,
		"data/preview/app/here/look.tfplan":    hour,
		"data/drift/app/here/pipedeck-ready":   30 * day,
		"states/app/here/terraform.tfstate":    30 * day,
		"states/app/here/terraform.tfplan":     30 * day,
		"plans/theirs/deep/look/inside.tfplan": 30 * day,
	}
	for name, age := range ages {
		path := filepath.Join(p.workDir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Chtimes(path, time.Time{}, time.Now().Add(-age)))
	}
	require.NoError(t, p.sweep())
	gone := []string{"plans/old/here.tfplan", "plans/old/here.rest.tfplan", "plans/ancient/here.json",
		"data/drift/app/here/look.tfplan"}
	for name := range ages {
		if _, err := os.Stat(filepath.Join(p.workDir, name)); err != nil {
			require.Contains(t, gone, name)
			continue
		}
		require.NotContains(t, gone, name)
	}
	// The folder of a deployment goes when it has been empty for a day.
	require.NoError(t, os.Chtimes(filepath.Join(p.workDir, "plans/ancient"), time.Time{}, time.Now().Add(-2*day)))
	require.NoError(t, p.sweep())
	require.NoDirExists(t, filepath.Join(p.workDir, "plans/ancient"))

	require.NoError(t, os.RemoveAll(p.workDir))
	require.NoError(t, p.sweep(), "a cache that a user has emptied")
}
