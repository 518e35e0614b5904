// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginsource

import (
	"debug/dwarf"
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// producer is what the compiler says of itself and its flags in the tables of a program, for one package.
func producer(t *testing.T, program, path string) string {
	t.Helper()
	file, err := elf.Open(program)
	require.NoError(t, err)
	defer file.Close()
	tables, err := file.DWARF()
	require.NoError(t, err)
	for reader := tables.Reader(); ; reader.SkipChildren() {
		entry, err := reader.Next()
		require.NoError(t, err)
		require.NotNil(t, entry, "no tables of package %s", path)
		if entry.Tag == dwarf.TagCompileUnit && entry.Val(dwarf.AttrName) == path {
			text, _ := entry.Val(dwarf.AttrProducer).(string)
			return text
		}
	}
}

// The user's flags are those of this repository: no tables, and no symbols. They are in the file that `go env -w`
// writes.
func TestAProgramForADebuggerIsNotOptimisedWhateverFlagsTheUserHas(t *testing.T) {
	settings := filepath.Join(t.TempDir(), "env")
	require.NoError(t, os.WriteFile(settings, []byte("GOFLAGS='-gcflags=all=-dwarf=false' '-ldflags=-s -w'\n"), 0o600))
	t.Setenv("GOENV", settings)
	t.Setenv("GOFLAGS", "") // the go command reads the file then
	_, s := module(t)
	s.Debug = true
	require.NoError(t, s.Build(t.Context()))
	require.Equal(t, "one", says(t, s))
	require.Contains(t, producer(t, s.Program, "main"), "-N -l")
	require.NotContains(t, producer(t, s.Program, "runtime"), "-N")
}
