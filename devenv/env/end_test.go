// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheLogOfAnOrderlyEndShowsNoError(t *testing.T) {
	t.Parallel()
	lastLine := func(err error) string {
		var log bytes.Buffer
		logEnd(slog.New(slog.NewTextHandler(&log, nil)), err)
		return log.String()
	}
	require.Contains(t, lastLine(nil), `msg="the environment has ended"`)
	require.NotContains(t, lastLine(nil), "error")
	failed := lastLine(errors.New("disk full"))
	require.Contains(t, failed, `level=ERROR msg="the environment has ended" error="disk full"`)
}
