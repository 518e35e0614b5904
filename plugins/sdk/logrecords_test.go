// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"testing"

	"github.com/pipedeck/pipedeck/api/model"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

func TestRecordsNameTheirLogAndEndWithIt(t *testing.T) {
	t.Parallel()
	mapped, journal := memory(minTidy)
	id := logID{deployment: "d", stage: "s", retriedCount: 2}
	other := newLogRecords(journal, logID{stage: "other"})
	other.lineStart(1, []byte("cut \xff"), 7)
	r := newLogRecords(journal, id)
	r.entry(entry{sequence: 1, severity: model.LogSeverity_ERROR, text: []byte("failed"), createdAt: 8, writer: 3})

	records := kept(t, mapped)
	require.Equal(t, []string{"other cut \uFFFD", "s failed"}, texts(records))
	require.EqualValues(t, 7, records[0].GetCreatedAt())
	entry := records[1]
	require.Equal(t, "d", entry.GetDeploymentId())
	require.EqualValues(t, 2, entry.GetRetriedCount())
	require.EqualValues(t, 1, entry.GetSequence())
	require.EqualValues(t, 3, entry.GetWriter())
	require.Equal(t, model.LogSeverity_ERROR, entry.GetSeverity())

	r.reported(1)
	r.end(true)
	require.True(t, kept(t, mapped)[2].GetDone())
	other.end(false)
	require.True(t, other.stage.abandoned, "piped reports the rest")
	require.Contains(t, texts(kept(t, mapped)), "other cut \uFFFD")
}

func TestWithoutAJournalNothingIsKept(t *testing.T) {
	t.Parallel()
	r := newLogRecords(nil, logID{})
	require.Nil(t, r)
	r.entry(entry{})
	r.lineStart(1, nil, 0)
	r.reported(1)
	r.end(true)
	r.end(false)
}
