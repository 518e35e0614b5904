// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/plugins/sdk/internal/require"
)

// kept reads what piped would find after the death of the process, without the records of what was left out.
func kept(t *testing.T, memory []byte) []*agentv1.StageLogRecord {
	t.Helper()
	return slices.DeleteFunc(
		allRecords(t, memory), func(r *agentv1.StageLogRecord) bool { return r.GetSequence() == leftOutSequence },
	)
}

// leftOut is the number of the last entry that found no room, by stage.
func leftOut(t *testing.T, memory []byte) map[string]uint64 {
	t.Helper()
	last := map[string]uint64{}
	for _, r := range allRecords(t, memory) {
		if r.GetSequence() == leftOutSequence {
			require.NotContains(t, last, r.GetStageId())
			last[r.GetStageId()] = r.GetLeftOutThrough()
		}
	}
	return last
}

func allRecords(t *testing.T, memory []byte) []*agentv1.StageLogRecord {
	t.Helper()
	word := binary.NativeEndian.Uint64(memory)
	records := memory[journalHeader:][:word&^secondHalf]
	if word&secondHalf != 0 {
		records = memory[journalHeader+(len(memory)-journalHeader)/2:][:word&^secondHalf]
	}
	var all []*agentv1.StageLogRecord
	for len(records) > 0 {
		size := binary.NativeEndian.Uint32(records)
		record := &agentv1.StageLogRecord{}
		require.NoError(t, proto.Unmarshal(records[recordPrefix:][:size], record))
		all = append(all, record)
		records = records[recordPrefix+size:]
	}
	return all
}

func texts(records []*agentv1.StageLogRecord) []string {
	var all []string
	for _, r := range records {
		all = append(all, r.GetStageId()+" "+r.GetText())
	}
	return all
}

func memory(half int) ([]byte, *logJournal) {
	mapped := make([]byte, journalHeader+2*half)
	return mapped, newLogJournal(mapped, half)
}

func stageOf(j *logJournal, name string) *journalStage {
	return j.stage(&agentv1.StageLogRecord{StageId: name})
}

func entryOf(stage string, n int64) *agentv1.StageLogRecord {
	return &agentv1.StageLogRecord{StageId: stage, Sequence: n, Text: fmt.Sprint("entry ", n)}
}

func TestTheJournalKeepsWhatWasNotReported(t *testing.T) {
	t.Parallel()
	mapped, j := memory(minTidy)
	fast, slow := stageOf(j, "fast"), stageOf(j, "slow")
	j.write(slow, entryOf("slow", 1))
	j.write(slow, &agentv1.StageLogRecord{StageId: "slow", Writer: 1, Text: "replaced"})
	j.write(slow, &agentv1.StageLogRecord{StageId: "slow", Writer: 1, Text: "the start of a line"})
	j.write(slow, &agentv1.StageLogRecord{StageId: "slow", Writer: 2, Text: "ended"})
	j.write(slow, &agentv1.StageLogRecord{StageId: "slow", Writer: 2, Text: "ended now", Sequence: 2})
	const entries = 500_000 // many times what a half holds
	for n := int64(1); n <= entries; n++ {
		j.write(fast, entryOf("fast", n))
		if n%1000 == 0 {
			j.reported(fast, n-3)
		}
	}
	j.tidy()
	require.Equal(t, []string{
		"slow entry 1", "slow the start of a line", "slow ended now",
		"fast entry 499998", "fast entry 499999", "fast entry 500000",
	}, texts(kept(t, mapped)))

	j.done(fast, &agentv1.StageLogRecord{StageId: "fast", Done: true})
	j.tidy()
	require.Equal(t, []string{"slow entry 1", "slow the start of a line", "slow ended now"}, texts(kept(t, mapped)))
	j.done(slow, &agentv1.StageLogRecord{StageId: "slow", Done: true})
	require.Empty(t, kept(t, mapped))
}

func TestTheJournalIsBounded(t *testing.T) {
	t.Parallel()
	mapped, j := memory(minTidy)
	lost, live := stageOf(j, "lost"), stageOf(j, "live")
	line := strings.Repeat("x", 1000)
	write := func(stage *journalStage, name string, from, to int64) {
		for n := from; n <= to; n++ {
			j.write(stage, &agentv1.StageLogRecord{StageId: name, Sequence: n, Text: line})
		}
	}
	write(lost, "lost", 1, 10_000)
	require.Greater(t, len(kept(t, mapped)), 1900, "what fits is kept")
	write(live, "live", 1, 10)
	require.NotContains(t, texts(kept(t, mapped)), "live "+line, "the memory is full")
	require.Equal(t, map[string]uint64{"lost": 10_000, "live": 10}, leftOut(t, mapped))
	late := stageOf(j, "late")
	write(late, "late", 1, 1)
	require.Equal(
		t, map[string]uint64{"lost": 10_000, "live": 10, "late": 1}, leftOut(t, mapped),
		"there is room to say so of stages that begin when the memory is full",
	)
	j.done(late, &agentv1.StageLogRecord{StageId: "late", Done: true})

	j.abandon(lost)
	j.reported(live, 10)
	write(live, "live", 11, 1000)
	require.Len(t, kept(t, mapped), 990, "a log that is not reported any more gives way")
	require.Equal(t, map[string]uint64{"lost": 10_000, "live": 10}, leftOut(t, mapped))
}

func TestALogThatGivesWayIsKnownByItsLastEntry(t *testing.T) {
	t.Parallel()
	mapped, j := memory(minTidy)
	lost, live := stageOf(j, "lost"), stageOf(j, "live")
	line := strings.Repeat("x", 1000)
	for n := range int64(1500) { // they fit
		j.write(lost, &agentv1.StageLogRecord{StageId: "lost", Sequence: n + 1, Text: line})
	}
	require.Equal(t, map[string]uint64{"lost": 0, "live": 0}, leftOut(t, mapped))
	j.abandon(lost)
	for n := range int64(2000) {
		j.write(live, &agentv1.StageLogRecord{StageId: "live", Sequence: n + 1, Text: line})
		j.reported(live, n)
	}
	require.NotContains(t, texts(kept(t, mapped)), "lost "+line)
	require.EqualValues(t, 1500, leftOut(t, mapped)["lost"])
}
