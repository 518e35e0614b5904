// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/filetest"
)

func TestAFailureOfThePageThatCannotBeLoggedIsSaid(t *testing.T) {
	t.Parallel()
	dir := filetest.SmallDisk(t, "1m")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "logs"), 0o700))
	path := filepath.Join(dir, "logs", "host.log")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	filetest.Fill(t, dir)
	var said string
	reports := &failures{dir: dir, say: func(_, line string) { said = line }}
	n, err := reports.Write([]byte("http: panic serving: no such stage\nmore\n"))
	require.NoError(t, err)
	require.Positive(t, n)
	require.Regexp(t, "^the page has failed: http: panic serving: no such stage; it cannot be logged: .*no space left",
		said)
}
