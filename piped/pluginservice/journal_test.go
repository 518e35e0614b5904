// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginservice

import (
	"bytes"
	"encoding/binary"
	"testing"

	"google.golang.org/protobuf/proto"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

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
