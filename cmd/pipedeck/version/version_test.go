// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTheCommitOfABuildIsThatOfTheRecordNextToTheProgram(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "pipedeck")
	built := time.Unix(1_700_000_000, 500)
	write := func(path, content string, at time.Time) {
		require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
		require.NoError(t, os.Chtimes(path, at, at))
	}
	write(program, "", built)
	write(program+".commit", "0123456789abcdef0123456789abcdef01234567 2026-11-24T14:00:00Z\n", built)
	i := Info{Version: "development", Go: "go1.26", Platform: "linux/amd64"}
	i.record(program)
	require.Equal(t, "pipedeck development, commit 0123456789ab of 2026-11-24T14:00:00Z (go1.26, linux/amd64)",
		i.String())

	write(program+".commit", "0123456789abcdef0123456789abcdef01234567 2026-11-24T14:00:00Z modified\n", built)
	i.record(program)
	require.Contains(t, i.String(), "commit 0123456789ab with changes of 2026-11-24")

	write(program, "another build", built.Add(time.Minute))
	later := Info{Version: "development"}
	later.record(program)
	require.Empty(t, later.Commit, "the record is of another build")
}

func TestAnUnknownCommitIsLeftOut(t *testing.T) {
	t.Parallel()
	i := Info{Version: "0.1.0", Go: "go1.26", Platform: "linux/amd64"}
	i.record(filepath.Join(t.TempDir(), "pipedeck"))
	require.Equal(t, "pipedeck 0.1.0 (go1.26, linux/amd64)", i.String())
	require.NotEmpty(t, Read().Go)
}
