// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/document"
)

func TestAnExportSaysWhatItsFileHas(t *testing.T) {
	t.Parallel()
	server := decktest.Start(t)
	server.Publish(decktest.Running()...)
	for _, stage := range decktest.Canary().GetStages() {
		server.CompleteLog(stage.GetId())
	}
	server.Resources(decktest.Application().GetId(), &deckv1.WatchResourcesResponse{Complete: true})
	stateDir, dir := clitest.Running(t, server.Address()), t.TempDir()
	file := filepath.Join(dir, "report.pipedeck")
	code, stdout, stderr := clitest.Run(t.Context(), Commands, stateDir, "export", file, "-o", "json")
	require.Zero(t, code, stderr)
	var exported document.Exported
	clitest.Document(t, "exported", stdout, &exported)
	require.True(t, exported.Running)
	require.Equal(t, file, exported.File)
	require.Equal(t, 1, exported.Applications)
	require.Equal(t, 1, exported.Deployments)
	require.Empty(t, exported.Missing)
	require.Positive(t, exported.Bytes)

	code, stdout, stderr = clitest.Run(t.Context(), Commands, stateDir, "export", filepath.Join(dir, "again"))
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "1 application, 1 deployment)\n  look at it:   pipedeck replay "+dir)
}

func TestAnEnvironmentWithoutAHistoryIsNotExported(t *testing.T) {
	t.Parallel()
	stateDir, file := t.TempDir(), filepath.Join(t.TempDir(), "report.pipedeck")
	refused := func() {
		t.Helper()
		code, _, stderr := clitest.Run(t.Context(), Commands, stateDir, "export", file)
		require.Equal(t, 3, code)
		require.Contains(t, stderr, "no environment \"default\" is running\nnext step: start it with: pipedeck up")
		require.NoFileExists(t, file)
	}
	refused()
	created(t, stateDir, "default")
	refused()
}
