// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"bytes"
	"context"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/cmd/pipedeck/clitest"
	"github.com/pipedeck/pipedeck/cmd/pipedeck/exit"
	"github.com/pipedeck/pipedeck/devenv/player"
	"github.com/pipedeck/pipedeck/system/clock"
)

func TestASessionThatIsServedSaysThatItIsNotComplete(t *testing.T) {
	t.Parallel()
	recorded, err := openSession(recordedTour)
	require.NoError(t, err)
	recorded.Missing = "the file ends in the middle of a record"
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, warn bytes.Buffer
	err = (&look{}).show(ctx, player.New(recorded, clock.System{}), recorded, outputPlain, &out, &warn)
	require.ErrorContains(t, err, "context canceled")
	require.Equal(t, "pipedeck: the session is not complete: the file ends in the middle of a record\n", warn.String())
}

func TestASessionDoesNotBeginBeforeItsBeginning(t *testing.T) {
	t.Parallel()
	code, _, stderr := clitest.Run(t.Context(), Commands, t.TempDir(), "replay", recordedTour, "--from=-3s",
		"--output", "plain")
	require.Equal(t, exit.WrongUsage, code)
	require.Contains(t, stderr, "--from -3s is before the beginning of the session")
}

func TestAnExportOnAFullDiskIsRunAgain(t *testing.T) {
	t.Parallel()
	err := explainFullDisk(exit.Explain(t.Context(), fmt.Errorf("write it: %w", syscall.ENOSPC)))
	var failure *exit.Error
	require.ErrorAs(t, err, &failure)
	require.Equal(t, exit.Unwritten, failure.Code)
	require.Equal(t, "free space on that disk, then run it again", failure.Hint)
	require.EqualError(t, err, "write it: no space left on device")
}
