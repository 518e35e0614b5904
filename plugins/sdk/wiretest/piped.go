// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package wiretest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
	"github.com/pipedeck/pipedeck/plugins/sdk/standin"
)

// DeploymentID is the id of the deployment in the requests that Harness.Request makes.
const DeploymentID = standin.DeploymentID

// waitLimit bounds Piped.Wait; a test that needs it has failed.
const waitLimit = time.Minute

// StageID is the id that Harness.Request gives a stage.
func StageID(stage string) string { return standin.StageID(stage) }

// Piped stands in for piped, and waits for what a test expects of a plugin.
type Piped struct{ *standin.Piped }

func startPiped(t testing.TB, old bool) *Piped {
	t.Helper()
	piped, err := standin.Start(standin.Options{Old: old})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, piped.Close()) })
	return &Piped{piped}
}

// Wait returns when the condition holds after some report; it fails the test after 20 seconds.
func (p *Piped) Wait(t testing.TB, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), waitLimit, errors.New("waited in vain for "+what))
	defer cancel()
	require.NoError(t, p.Until(ctx, condition))
}

// WaitLog returns when the log of a stage holds text.
func (p *Piped) WaitLog(t testing.TB, stageID, text string) {
	t.Helper()
	p.Wait(t, "log "+text, func() bool { return strings.Contains(p.Log(stageID), text) })
}
