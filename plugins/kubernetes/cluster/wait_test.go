// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAClusterThatComesLateGetsItsTimeToBecomeReady(t *testing.T) {
	t.Parallel()
	start := time.Unix(0, 0)
	at := func(d time.Duration) time.Time { return start.Add(d) }
	w := wait{begun: start, patience: defaultPatience}
	missing, starting := &missingError{}, &notReadyError{}

	changed, _ := w.see(start, nil, missing)
	require.True(t, changed)
	changed, _ = w.see(at(time.Minute), nil, missing)
	require.False(t, changed, "the same thing is said once")
	require.False(t, w.over(at(5*time.Minute), missing))

	changed, _ = w.see(at(5*time.Minute), nil, starting)
	require.True(t, changed)
	require.False(t, w.over(at(5*time.Minute+time.Second), starting))
	require.True(t, w.over(at(5*time.Minute+notReadyPatience+time.Second), starting))
	require.True(t, w.over(at(defaultPatience+time.Second), missing), "the whole wait has an end, too")
}
