// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/plugins/sdk"
	"github.com/pipedeck/pipedeck/plugins/sdk/sdktest"
	"github.com/pipedeck/pipedeck/plugins/terraform/session"
)

// stageAt is a request with these deploy targets, and what it shows.
func stageAt(t *testing.T, targets ...string) (req *executeRequest, shown func() string) {
	t.Helper()
	client := sdktest.NewClient(t)
	req = &executeRequest{Client: client}
	for _, name := range targets {
		req.Targets = append(req.Targets, session.Target{Name: name})
	}
	return req, func() string { return client.All(sdk.OfStage)[sdk.DisplayMetadataKey] }
}

func TestTheTextOfAStageNamesEachTargetThatWaitsForALock(t *testing.T) {
	t.Parallel()
	req, shown := stageAt(t, "east", "west")
	waits := newLockWaits(req)
	west := waits.begin(t.Context(), "west", "ann")
	require.Equal(t, "Waiting for the lock of ann (west)", shown())
	east := waits.begin(t.Context(), "east", "bob")
	require.Equal(t, "Waiting for the lock of bob (east), ann (west)", shown())
	west()
	require.Equal(t, "Waiting for the lock of bob (east)", shown(), "the other one waits on")
	east()
	require.Empty(t, shown())
}

func TestNoStageThatHasEndedShowsThatItWaitsForALock(t *testing.T) {
	t.Parallel()
	req, shown := stageAt(t, "east")
	ctx, cancel := context.WithCancel(t.Context())
	over := newLockWaits(req).begin(ctx, "east", "bob")
	require.Equal(t, "Waiting for the lock of bob", shown())
	cancel()
	over()
	require.Empty(t, shown())
}
