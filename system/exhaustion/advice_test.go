// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package exhaustion_test

import (
	"errors"
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/pipedeck/pipedeck/system/exhaustion"
)

func TestExhaustionIsReportedWithWhatToRaise(t *testing.T) {
	t.Parallel()
	wrapped := func(err error) error { return &os.PathError{Op: "open", Path: "x", Err: err} }
	require.Contains(t, exhaustion.Advice(wrapped(syscall.ENOSPC)), "free space")
	require.Contains(t, exhaustion.Advice(wrapped(syscall.EMFILE)), "ulimit -n")
	require.Contains(t, exhaustion.Advice(wrapped(syscall.ENFILE)), "sysctl")
	require.Empty(t, exhaustion.Advice(errors.New("another")))
	require.NotEqual(t, exhaustion.Advice(syscall.ENOSPC), exhaustion.WatchAdvice(syscall.ENOSPC),
		"no more watches, not a full disk")
	require.NotEqual(t, exhaustion.Advice(syscall.EMFILE), exhaustion.WatchAdvice(syscall.EMFILE),
		"files can be opened: it is the limit of watches")
	require.NotEmpty(t, exhaustion.WatchAdvice(syscall.EMFILE))
}
