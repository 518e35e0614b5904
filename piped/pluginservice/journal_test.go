// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
	"github.com/pipedeck/pipedeck/api/model"
)

func TestTheJournalKnowsWhatWasReported(t *testing.T) {
	t.Parallel()
	key := stageKey{deployment: "d", stage: "s"}
	first := []*model.LogBlock{{Index: 1, Log: "one"}}
	both := append(first, &model.LogBlock{Index: 2, Log: "two"})
	for name, test := range map[string]struct {
		checkpoint, completed bool
		code                  codes.Code
		through               int64
		rest                  int // blocks that a checkpoint of the rest holds
	}{
		"a report":                     {code: codes.OK, through: 2, rest: 3},
		"a report that is refused":     {code: codes.ResourceExhausted, through: 2, rest: 3},
		"a report that got lost":       {code: codes.Unavailable, through: 1, rest: 1},
		"a checkpoint":                 {code: codes.OK, checkpoint: true, through: 2},
		"a checkpoint that is refused": {code: codes.InvalidArgument, checkpoint: true, through: 1, rest: 1},
		"the last checkpoint":          {code: codes.OK, checkpoint: true, completed: true, through: 2},
		"a last checkpoint that is lost": {
			code: codes.Unavailable, checkpoint: true, completed: true, through: 1, rest: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJournal(nil, "p", nil)
			report := func(r blockReport, code codes.Code) error {
				r.key, r.send = key, func(context.Context) error { return status.Error(code, "test") }
				return j.report(t.Context(), r)
			}
			require.NoError(t, report(blockReport{through: 1, blocks: first}, codes.OK))
			err := report(blockReport{
				through: 2, blocks: both, checkpoint: test.checkpoint, completed: test.completed,
			}, test.code)
			require.Equal(t, test.code, status.Code(err))
			stage := j.stages[key]
			require.Equal(t, test.through, stage.through)
			require.Equal(t, test.completed && test.code == codes.OK, stage.completed)
			require.Len(t, stage.rest(), test.rest)
		})
	}
}

func TestEntriesThatWereNeitherReportedNorKeptAreCounted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reported int64
		leftOut  uint64
		kept     []int64
		want     string
	}{
		"all are kept":                 {1, 0, []int64{2, 3}, ""},
		"some found no room":           {1, 10, []int64{2, 3, 7}, "Entries of this log are missing: 6."},
		"one of a plugin without note": {1, 0, []int64{2, 4}, "Entries of this log are missing: 1."},
		"those without room came":      {10, 10, []int64{2, 3}, ""},
		"nothing is kept":              {0, 5, nil, "Entries of this log are missing: 5."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := newJournal(nil, "p", nil)
			require.NoError(t, j.report(t.Context(), blockReport{
				key: stageKey{stage: "s"}, through: test.reported, checkpoint: true,
				send: func(context.Context) error { return nil },
			}))
			j.take(&agentv1.StageLogRecord{StageId: "s", Sequence: -1, LeftOutThrough: test.leftOut})
			for _, n := range test.kept {
				j.take(&agentv1.StageLogRecord{StageId: "s", Sequence: n, Text: "line"})
			}
			blocks := j.stages[stageKey{stage: "s"}].rest()
			last := ""
			if len(blocks) > 0 && blocks[len(blocks)-1].GetSeverity() == model.LogSeverity_ERROR {
				last = blocks[len(blocks)-1].GetLog()
			}
			if test.want == "" {
				require.Empty(t, last)
				return
			}
			require.Contains(t, last, test.want)
		})
	}
}

func TestRecordsOfTooManyStagesAreCounted(t *testing.T) {
	t.Parallel()
	j := newJournal(nil, "p", nil)
	for i := range maxStages + 2 {
		j.take(&agentv1.StageLogRecord{StageId: fmt.Sprint(i), Sequence: 1})
	}
	require.Equal(t, 2, j.unknown)
}

func TestAReportEndsWithoutTheProcessThatMakesIt(t *testing.T) {
	t.Parallel()
	j := newJournal(nil, "p", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, j.report(ctx, blockReport{send: func(ctx context.Context) error { return ctx.Err() }}))
	j.finished = true
	require.ErrorIs(t, j.report(t.Context(), blockReport{}), context.Canceled, "its rest is being read")
}

// FuzzJournal reads memory that a plugin may have filled with anything.
func FuzzJournal(f *testing.F) {
	record, err := proto.Marshal(
		&agentv1.StageLogRecord{DeploymentId: "d", StageId: "s", Sequence: 1, Text: "line", Writer: 1},
	)
	if err != nil {
		f.Fatal(err)
	}
	prefix := binary.NativeEndian.AppendUint32(nil, uint32(len(record)))
	records := append(append(prefix, make([]byte, recordPrefix-len(prefix))...), record...)
	f.Add(uint64(len(records)), records)
	f.Add(uint64(len(records)-1), records)
	f.Add(uint64(secondHalf), records)
	f.Add(^uint64(0), records)
	f.Fuzz(func(t *testing.T, word uint64, records []byte) {
		memory := make([]byte, journalHeader, journalHeader+len(records))
		binary.NativeEndian.PutUint64(memory, word)
		j := newJournal(nil, "p", nil)
		if err := j.read(bytes.NewReader(append(memory, records...))); err != nil {
			return
		}
		for _, stage := range j.stages {
			for _, block := range stage.rest() {
				if block.GetIndex() == 0 {
					t.Fatal("a block without an index")
				}
			}
		}
	})
}
