// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package ci

import (
	"testing"

	"github.com/stretchr/testify/require"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/devenv/workspace"
	"github.com/pipedeck/pipedeck/system/gittest"
)

func TestWhatAKeptEnvironmentHasDeployedIsComparedWithHEAD(t *testing.T) {
	t.Parallel()
	repository := twoCommits(t, map[string]string{
		"same/app.pipecd.yaml":    application("same"),
		"touched/app.pipecd.yaml": application("touched"),
		"broken/app.pipecd.yaml":  application("broken"),
		"gone/app.pipecd.yaml":    application("gone"),
		"hand/app.pipecd.yaml":    application("hand", onlyByHand),
	}, map[string]string{
		"touched/conf.yaml":      "a: 2",
		"broken/app.pipecd.yaml": application("broken", "  timeout: soon\n"),
		"gone/app.pipecd.yaml":   "",
		"hand/conf.yaml":         "a: 2",
	})
	before := gittest.Run(t, repository.Root, "rev-parse", "HEAD~1")
	all := compareAll([]*workspace.Repository{repository})
	for name, c := range map[string]struct {
		app    string
		commit string
		sync   deckv1.SyncStatus
		at     bool
	}{
		"HEAD changes it, and it was in sync": {"touched", before, deckv1.SyncStatus_SYNC_STATUS_SYNCED, false},
		"HEAD has deployed it": {
			"touched", repository.Head, deckv1.SyncStatus_SYNC_STATUS_UNKNOWN, true},
		"HEAD does not change it, and it was kept while it was deployed": {
			"same", before, deckv1.SyncStatus_SYNC_STATUS_DEPLOYING, true},
		"HEAD breaks its configuration": {"broken", before, deckv1.SyncStatus_SYNC_STATUS_SYNCED, false},
		"only users deploy it":          {"hand", before, deckv1.SyncStatus_SYNC_STATUS_OUT_OF_SYNC, true},
		"HEAD removes it":               {"gone", before, deckv1.SyncStatus_SYNC_STATUS_SYNCED, true},
		"its commit is gone": {"touched", "0123456789012345678901234567890123456789",
			deckv1.SyncStatus_SYNC_STATUS_SYNCED, false},
	} {
		app := &deckv1.Application{Name: c.app, Path: c.app, ConfigFilename: "app.pipecd.yaml", Sync: c.sync}
		require.Equal(t, c.at, all.at(app, c.commit), name)
		require.Equal(t, c.at, all.at(app, c.commit), "%s, asked again", name)
	}
}
