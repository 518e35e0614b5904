// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAQueueForgetsWhatASnapshotHolds(t *testing.T) {
	t.Parallel()
	var q queue
	for _, id := range []string{"a", "bb", "ccc"} {
		require.True(t, q.add(&Record{Kind: Event, ID: id}, false))
	}
	last := append([]byte(nil), q.pending[q.ends[1]:]...)
	q.forget(2)
	require.Equal(t, []int{len(last)}, q.ends)
	require.Equal(t, last, q.pending)
	frames, ends := q.take(nil)
	require.Equal(t, last, frames)
	require.Equal(t, []int{len(last)}, ends)
	require.Empty(t, q.ends)
	require.EqualValues(t, 3, q.appended)
}

func TestAQueueThatDroppedRecordsTakesNoneUntilASnapshot(t *testing.T) {
	t.Parallel()
	var q queue
	require.True(t, q.add(&Record{Kind: Event, ID: "a"}, false))
	require.False(t, q.add(&Record{Kind: Event, ID: "b"}, true), "the file cannot be written")
	require.True(t, q.incomplete)
	require.False(t, q.add(&Record{Kind: Event, ID: "c"}, false), "what came before it is missing")
	require.Empty(t, q.ends)
	require.EqualValues(t, 3, q.appended)
}
