// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package servicefile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Not parallel: the variable belongs to the process.
func TestOnlyAddressesAreReadAndOnlyOfABoundedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "services.env")
	t.Setenv(Variable, "")
	read, err := Read()
	require.NoError(t, err)
	require.Empty(t, read, "nothing names a file")

	t.Setenv(Variable, path)
	read, err = Read()
	require.NoError(t, err)
	require.Empty(t, read, "no address is known yet")

	write := func(content string) { require.NoError(t, os.WriteFile(path, []byte(content), 0o600)) }
	write("PATH=/nowhere\n# words\nPIPEDECK_SERVICE_\nPIPEDECK_SERVICE_WEB_URL=http://127.0.0.1:1\r\n" +
		"PIPEDECK_SERVICE_A=\x00\n")
	read, err = Read()
	require.NoError(t, err)
	require.Equal(t, []string{"PIPEDECK_SERVICE_WEB_URL=http://127.0.0.1:1"}, read)

	write(strings.Repeat("#", MaxSize+1))
	_, err = Read()
	require.EqualError(t, err, path+" has more than 256 KiB")
}
