// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

// Package chantest receives from channels in tests, within a bound.
package chantest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// patience bounds each wait. It is long because a loaded machine is no reason for a test to fail.
const patience = time.Minute

// Receive returns the next value of a channel. The test ends when none comes within a minute.
func Receive[T any](t testing.TB, from <-chan T) T {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case v := <-from:
		return v
	case <-timer.C:
		require.FailNow(t, "nothing came in time")
		panic("unreachable")
	}
}
