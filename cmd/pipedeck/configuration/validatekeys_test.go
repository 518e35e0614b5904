// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package configuration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
)

func TestValidateChecksAKeyFileThatIsNamed(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.yaml")
	require.NoError(t, os.WriteFile(path, []byte("log.wrap: [x]\nglobal.sync: [x]\n"), 0o600))
	code, stdout, stderr := command(t.Context(), t.TempDir(), "validate", path)
	require.Equal(t, exit.WrongUsage, code)
	require.Equal(t, path+":2:15: error: global.sync: x is taken by log.wrap at "+path+
		":1:12; the built-in key stays\nchecked 1 file: 1 error, 0 warnings\n", stdout)
	require.Contains(t, stderr, "the configuration has 1 error")

	require.NoError(t, os.WriteFile(path, []byte("global.sync: [f5]\n"), 0o600))
	code, stdout, stderr = command(t.Context(), t.TempDir(), "validate", path)
	require.Zero(t, code, stderr)
	require.Equal(t, "checked 1 file: 0 errors, 0 warnings\n", stdout)
}
