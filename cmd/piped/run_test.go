// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/piped/configsource"
)

func TestOnlyMistakesOfTheUserAreWrongUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	empty := filepath.Join(dir, "piped.yaml")
	require.NoError(t, os.WriteFile(empty, []byte("apiVersion: x\n"), 0o600))
	for name, c := range map[string]struct {
		source configsource.Source
		says   string
	}{
		"no source":                {configsource.Source{}, "give --config-file"},
		"two sources":              {configsource.Source{File: empty, Data: "eA=="}, "exclude each other"},
		"a file that is not there": {configsource.Source{File: filepath.Join(dir, "none")}, "name an existing file"},
		"a directory":              {configsource.Source{File: dir}, "it is a directory"},
		"a file below a file":      {configsource.Source{File: filepath.Join(empty, "x")}, "not a directory"},
		"data that is not base64":  {configsource.Source{Data: "?"}, "is not base64"},
		"a wrong configuration":    {configsource.Source{File: empty}, "apiVersion"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := (&runFlags{source: c.source}).configuration(t.Context())
			var usage *usageError
			require.ErrorAs(t, err, &usage)
			require.ErrorContains(t, err, c.says)
		})
	}
	for _, cause := range []error{syscall.EIO, syscall.EMFILE, syscall.ESTALE, syscall.ENOMEM} {
		err := fmt.Errorf("read piped configuration: %w", &fs.PathError{Op: "read", Path: "piped.yaml", Err: cause})
		require.False(t, isMistake(err), "%v may pass", cause)
	}
	require.False(t, isMistake(&configsource.CloudError{}))
}
