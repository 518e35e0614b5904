// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package inspect

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/tui/decktest"
	"github.com/pipedeck/pipedeck/tui/document"
)

func TestADiffNamesTheFieldsTheirWriterAndBothValues(t *testing.T) {
	t.Parallel()
	resources := decktest.Resources()
	resources[0].Fields = []*deckv1.FieldDrift{{
		Path: "spec.replicas", GitValue: "1", LiveValue: "2", AppliedValue: "1", Writer: "kubectl-scale",
		Change: deckv1.FieldDrift_CHANGE_LIVE,
	}}
	stateDir := withResources(t, resources...)
	code, stdout, stderr := command(t.Context(), stateDir, "diff", "hello-world")
	require.Zero(t, code, stderr)
	require.Equal(t, `Deployment default/hello-world  at kubernetes/local
  spec.replicas: 1 in Git, 2 live
  spec.replicas: live was changed by kubectl-scale: Git and last applied agree
      spec:
    -   replicas: 2
    +   replicas: 1

Service default/hello-world  at kubernetes/local
  is missing in the cluster
`, stdout)
	code, stdout, stderr = command(t.Context(), stateDir, "diff", "hello-world", "--exit-code", "-o", "json")
	require.Equal(t, exit.Failed, code, stderr)
	var diff document.Resources
	clitest.Document(t, "resources", stdout, &diff)
	require.Len(t, diff.Resources, 2)
	require.Equal(t, "LIVE", diff.Resources[0].Fields[0].Change)
}

func TestADiffOfWhatIsAsInGitSaysHowMuchItHasCompared(t *testing.T) {
	t.Parallel()
	stateDir := withResources(t, decktest.Resources()[1:5]...)
	code, stdout, stderr := command(t.Context(), stateDir, "diff", "hello-world", "--exit-code")
	require.Zero(t, code, stderr)
	require.Equal(t, "hello-world: none of 4 live resources differs from Git\n", stdout)
}

func TestADiffWithoutResourcesThatDifferSaysThatTheApplicationIsNotAsInGit(t *testing.T) {
	t.Parallel()
	stateDir := withChanged(t, func(app *deckv1.Application) {
		app.Sync, app.SyncShortReason = deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC, "The deployment failed"
	})
	code, stdout, stderr := command(t.Context(), stateDir, "diff", "hello-world")
	require.Zero(t, code, stderr)
	require.Equal(t, "hello-world: none of 0 live resources differs from Git, but the application is OUT_OF_SYNC: "+
		"The deployment failed\n", stdout)
	code, _, stderr = command(t.Context(), stateDir, "diff", "hello-world", "--exit-code")
	require.Equal(t, exit.Failed, code, stderr)
}

func TestADiffShowsTheWholeReasonOfADriftThatIsOfNoResource(t *testing.T) {
	t.Parallel()
	stateDir := withChanged(t, func(app *deckv1.Application) {
		app.Sync = deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC
		app.SyncShortReason = "A plan has changes: 1 output"
		app.SyncReason = "Changes of outputs:\n  ~ address: a → b\x1b[2J\n"
	})
	_, stdout, _ := command(t.Context(), stateDir, "diff", "hello-world")
	require.Equal(t, "hello-world: none of 0 live resources differs from Git, but the application is OUT_OF_SYNC: "+
		"A plan has changes: 1 output\n  Changes of outputs:\n    ~ address: a → b\n", stdout)
}

func TestADiffOfACommitIsOfTheRepositoryThatTheEnvironmentWatches(t *testing.T) {
	t.Parallel()
	stateDir := withResources(t, decktest.Resources()...)
	code, stdout, stderr := command(t.Context(), stateDir, "diff", "hello-world", "--commit", "nowhere")
	require.NotZero(t, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, "repository")
	code, _, stderr = command(t.Context(), stateDir, "diff", "hello-world", "--commit", "a", "--exit-code")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "exit-code")
}
