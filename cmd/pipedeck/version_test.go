// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/tui/document"
)

func TestTheVersionIsADocument(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := command(t.Context(), t.TempDir(), "version", "-o", "json")
	require.Zero(t, code, stderr)
	var version document.Version
	clitest.Document(t, "version", stdout, &version)
	require.Equal(t, runtime.Version(), version.Go)
	code, stdout, stderr = command(t.Context(), t.TempDir(), "version", "-o", "yaml")
	require.Zero(t, code, stderr)
	require.Equal(t, "schema: 1\nversion: "+version.Version+"\ngo: "+runtime.Version()+"\nplatform: "+
		version.Platform+"\n", stdout)
}
