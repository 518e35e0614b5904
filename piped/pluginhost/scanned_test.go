// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/config"
)

func TestABinaryIsReadAgainOnlyWhenItHasChanged(t *testing.T) {
	t.Parallel()
	options := &Options{BinaryDir: t.TempDir()}
	p := &Plugin{config: config.Plugin{Name: "p"}, options: options}
	source := filepath.Join(t.TempDir(), "plugin")
	begun := time.Now()
	require.NoError(t, os.WriteFile(source, []byte("one"), 0o700))
	first, err := p.localBinary("p", source)
	require.NoError(t, err)
	if time.Since(begun) < settledAfter { // else this machine was too busy to see it
		require.Nil(t, p.scanned.Load(), "it has changed a moment ago, and may do so again in the same moment")
	}

	// As time passes the result counts.
	require.Eventually(t, func() bool {
		_, err := p.localBinary("p", source)
		require.NoError(t, err)
		return p.scanned.Load() != nil
	}, time.Minute, 50*time.Millisecond)
	known := p.scanned.Load()
	again, err := p.localBinary("p", source)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.Same(t, known, p.scanned.Load(), "it was not read")

	require.NoError(t, os.Remove(first.path))
	again, err = p.localBinary("p", source)
	require.NoError(t, err)
	require.Equal(t, first, again)
	require.FileExists(t, first.path, "a copy that is gone is made again")

	// Another content of the same size, with the time of the one before, as an archive would put it there.
	info, err := os.Stat(source)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(source, []byte("two"), 0o700))
	require.NoError(t, os.Chtimes(source, info.ModTime(), info.ModTime()))
	other, err := p.localBinary("p", source)
	require.NoError(t, err)
	require.NotEqual(t, first, other)
	text, err := os.ReadFile(other.path)
	require.NoError(t, err)
	require.Equal(t, "two", string(text))
}
