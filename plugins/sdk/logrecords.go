// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"bytes"

	agentv1 "github.com/pipedeck/pipedeck/api/agent/v1"
)

// logID names the log of one attempt at a stage.
type logID struct {
	deployment, stage string
	retriedCount      int32
}

// logRecords has piped know the log of one attempt at a stage, whatever becomes of this process. nil, without a
// journal, does nothing.
type logRecords struct {
	journal *logJournal
	stage   *journalStage
	id      logID
}

func newLogRecords(journal *logJournal, id logID) *logRecords {
	if journal == nil {
		return nil
	}
	r := &logRecords{journal: journal, id: id}
	r.stage = journal.stage(r.record())
	return r
}

// entry keeps an entry until it is reported.
func (r *logRecords) entry(e entry) {
	if r == nil {
		return
	}
	record := r.record()
	record.Sequence, record.Severity, record.Text = e.sequence, e.severity, string(e.text)
	record.CreatedAt, record.Writer = e.createdAt, e.writer
	r.journal.write(r.stage, record)
}

// lineStart keeps the start of a line until an entry of the same writer has it.
func (r *logRecords) lineStart(writer int64, text []byte, createdAt int64) {
	if r == nil {
		return
	}
	record := r.record()
	record.Text, record.CreatedAt = string(bytes.ToValidUTF8(text, []byte("\uFFFD"))), createdAt
	record.Writer = writer
	r.journal.write(r.stage, record)
}

// reported lets the entries up to a number go.
func (r *logRecords) reported(through int64) {
	if r != nil {
		r.journal.reported(r.stage, through)
	}
}

// end ends the log. When it was reported as a whole, piped forgets what it knows of it; what was not reported is for
// piped to report.
func (r *logRecords) end(whole bool) {
	switch {
	case r == nil:
	case whole:
		record := r.record()
		record.Done = true
		r.journal.done(r.stage, record)
	default:
		r.journal.abandon(r.stage)
	}
}

func (r *logRecords) record() *agentv1.StageLogRecord {
	return &agentv1.StageLogRecord{
		DeploymentId: r.id.deployment, StageId: r.id.stage, RetriedCount: r.id.retriedCount,
	}
}
