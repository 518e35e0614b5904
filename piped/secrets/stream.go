// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package secrets

import (
	"strings"

	"github.com/pipedeck/pipedeck/api/model"
)

// tail is the end of an unfinished line, as it was before masking; at most maxPattern bytes.
type tail string

// maskPiece masks a piece of a text that comes after before: a value that begins there is masked here as
// far as it stands here, and the beginning of one at the end of an unfinished line is masked too.
func (m *Masker) maskPiece(before tail, text string) (string, tail) {
	m.mu.Lock()
	defer m.mu.Unlock()
	joined := string(before) + text
	var spans []span
	if strings.HasSuffix(joined, "\n") {
		spans = m.index.spans(joined)
	} else {
		spans = m.index.spansWithEnd(joined)
	}
	var here []span
	for _, s := range spans {
		if s.to > len(before) {
			here = append(here, span{max(0, s.from-len(before)), s.to - len(before)})
		}
	}
	rest := joined[strings.LastIndexByte(joined, '\n')+1:]
	return replace(text, here), tail(strings.Clone(rest[max(0, len(rest)-maxPattern):]))
}

// maskBlocks masks consecutive blocks of a log. Blocks without a secret are returned as they are, others
// as copies.
func (m *Masker) maskBlocks(before tail, blocks []*model.LogBlock) ([]*model.LogBlock, tail) {
	var changed []*model.LogBlock
	for i, block := range blocks {
		var text string
		text, before = m.maskPiece(before, block.GetLog())
		if text == block.GetLog() {
			continue
		}
		if changed == nil {
			changed = append(changed, blocks...)
		}
		changed[i] = &model.LogBlock{
			Index: block.GetIndex(), Log: text, Severity: block.GetSeverity(), CreatedAt: block.GetCreatedAt(),
		}
	}
	if changed == nil {
		return blocks, before
	}
	return changed, before
}

// maxLogs bounds the stage logs whose unfinished lines are remembered: those reported last.
const maxLogs = 1024

// logID is one attempt at a stage.
type logID struct {
	deployment, stage string
	attempt           int32
}

// stageLog is how far the log of one attempt has come. From a checkpoint on, everything is reported once
// more as part of the next checkpoint, which therefore has its own tail.
type stageLog struct {
	live, checkpoint tail
	used             uint64
}
