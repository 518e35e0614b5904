// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package conformance

import (
	"testing"
	"time"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/api/plugin/pluginservice"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func TestAStageIsStoppedInItsLongestTimeWithoutARequest(t *testing.T) {
	t.Parallel()
	const second = time.Second
	began := time.Now()
	log := func(after time.Duration, indexes ...int64) call {
		request := &pluginservice.ReportStageLogsRequest{}
		for _, index := range indexes {
			request.Blocks = append(request.Blocks, &model.LogBlock{Index: index})
		}
		return call{method: "ReportStageLogs", request: request, at: began.Add(after)}
	}
	put := func(after time.Duration) call {
		return call{method: "PutStageMetadata", request: &pluginservice.PutStageMetadataRequest{}, at: began.Add(after)}
	}
	for name, c := range map[string]struct {
		calls []call
		took  time.Duration
		cut   bool
		want  *lull
	}{
		"a stage that ends at once": {calls: []call{put(0)}, took: second / 2},
		"a stage that always reports": {took: 3 * second,
			calls: []call{put(second / 2), put(second), put(3 * second / 2), put(2 * second), put(5 * second / 2)}},
		"a stage that reports nothing": {took: 4 * second, want: &lull{length: 4 * second, quiet: second}},
		"the longest, past a shorter one": {
			calls: []call{put(2 * second), log(2*second, 1, 2), log(2*second, 2, 3), put(12 * second),
				put(14 * second)},
			took: 15 * second,
			want: &lull{length: 10 * second, begins: 2 * second, quiet: second,
				after: progress{requests: 1, blocks: 3}},
		},
		"a short one": {took: second, want: &lull{length: second, quiet: second / 2}},
		"equal ones": {calls: []call{put(4 * second), put(8 * second)}, took: 12 * second,
			want: &lull{length: 4 * second, quiet: second}},
		"a stage that was cut off, and what it sent later": {calls: []call{put(second), put(7 * second)},
			took: 6 * second, cut: true,
			want: &lull{length: 5 * second, begins: second, quiet: second, open: true,
				after: progress{requests: 1}}},
	} {
		require.Equal(t, c.want, lullOf(c.calls, began, c.took, c.cut), name)
	}
	l := &lull{length: 4 * second, quiet: second}
	require.True(t, l.slept(3*second))
	require.False(t, l.slept(2*second), "it stopped before the end of what it did")
	require.False(t, (&lull{length: 2 * second, quiet: second}).slept(second), "too short to see it")
	require.False(t, (&lull{length: 4 * second, quiet: second, open: true}).slept(4*second), "its length is not known")
	require.True(t, progress{2, 3}.reaches(progress{2, 3}))
	require.False(t, progress{2, 3}.reaches(progress{3, 0}))
}
