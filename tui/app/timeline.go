// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"

	deckv1 "github.com/pipedeck/pipedeck/api/deck/v1"
	"github.com/pipedeck/pipedeck/tui/logbuf"
	"github.com/pipedeck/pipedeck/tui/text"
)

// timeline merges the logs of stages, and what plugin processes wrote, in the order of their times.
type timeline struct {
	// stages are those whose logs are read, lead is what stands before the lines of each; "" for one stage alone.
	stages []string
	lead   map[string]string

	mu sync.Mutex
	// early are lines of plugins that wait until the logs so far are there; caughtUp says that they are.
	early    []logbuf.Line
	caughtUp bool
}

const (
	// maxLead is the greatest width of the names before merged lines.
	maxLead = 16
	// maxEarly bounds how many lines wait to be put in order.
	maxEarly = 200_000
	// earlyTime is how long the logs so far are waited for, where the control plane does not say that they are there.
	earlyTime = time.Second
)

// leads are names in columns of the same width, to stand before lines.
func leads(names []string) []string {
	width := 0
	for _, name := range names {
		width = max(width, min(maxLead, text.Width(name)))
	}
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = text.Pad(name, width, "\u2026") + "  "
	}
	return list
}

// led is a line with a name before it.
func led(lead string, line logbuf.Line) logbuf.Line {
	if lead == "" {
		return line
	}
	if strings.ContainsRune(line.Raw, '\r') { // which would write over the name
		line.Raw = line.Text
	}
	line.Text, line.Raw = lead+line.Text, lead+line.Raw
	return line
}

// write adds lines of plugins: at once when the logs of the stages have caught up.
func (t *timeline) write(buffer *logbuf.Buffer, lines []logbuf.Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.caughtUp {
		buffer.Append(lines...)
		return
	}
	t.early = append(t.early, lines...)
}

// catchUp puts what came so far in order.
func (t *timeline) catchUp(buffer *logbuf.Buffer, lines []logbuf.Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines = append(lines, t.early...)
	slices.SortStableFunc(lines, func(a, b logbuf.Line) int { return a.Time.Compare(b.Time) })
	buffer.Append(lines...)
	t.early, t.caughtUp = nil, true
}

// logNews is what came from the log of one stage: a response, or its end.
type logNews struct {
	stage    string
	response *deckv1.WatchStageLogResponse
	err      error
}

// readTimeline reads the logs of all stages until they are complete.
func (l *stageLog) readTimeline(client deckv1.DeckServiceClient, grown chan<- logMsg) logMsg {
	ctx, cancel := context.WithCancel(l.ctx)
	var readers sync.WaitGroup
	defer readers.Wait()
	defer cancel()
	news := make(chan logNews)
	for _, stage := range l.timeline.stages {
		readers.Go(func() { l.follow(ctx, client, stage, news) })
	}
	m := merging{log: l, behind: map[string]bool{}, open: len(l.timeline.stages)}
	for _, stage := range l.timeline.stages {
		m.behind[stage] = true
	}
	patience := l.after(earlyTime)
	for m.open > 0 && m.failed == nil {
		select {
		case one := <-news:
			m.take(one)
		case <-patience:
			clear(m.behind)
		case <-ctx.Done():
			return logMsg{log: l, err: ctx.Err()}
		}
		if m.settle() {
			select {
			case grown <- logMsg{log: l, truncated: m.truncated}:
			default: // one is waiting already; it speaks of all lines
			}
		}
	}
	m.behind = nil
	m.settle()
	return logMsg{log: l, complete: m.failed == nil, truncated: m.truncated, err: m.failed}
}

// follow passes the log of one stage on, and then its end.
func (l *stageLog) follow(ctx context.Context, client deckv1.DeckServiceClient, stage string, news chan<- logNews) {
	pass := func(one logNews) bool {
		select {
		case news <- one:
			return true
		case <-ctx.Done():
			return false
		}
	}
	stream, err := client.WatchStageLog(ctx,
		&deckv1.WatchStageLogRequest{DeploymentId: l.key.deployment, StageId: stage},
		grpc.MaxCallRecvMsgSize(maxMessage))
	for err == nil {
		var response *deckv1.WatchStageLogResponse
		if response, err = stream.Recv(); err == nil && !pass(logNews{stage: stage, response: response}) {
			return
		}
	}
	pass(logNews{stage: stage, err: err})
}

// merging gathers lines until every log has sent what it has, and passes them on from then on.
type merging struct {
	log *stageLog
	// behind are the stages whose logs have not caught up, open is how many logs have not ended.
	behind    map[string]bool
	open      int
	truncated bool
	failed    error
	lines     []logbuf.Line
	begun     bool
}

func (m *merging) take(one logNews) {
	if one.err != nil {
		delete(m.behind, one.stage)
		m.open--
		if !errors.Is(one.err, io.EOF) {
			m.failed = one.err
		}
		return
	}
	m.truncated = m.truncated || one.response.GetTruncated()
	if one.response.GetLast() || one.response.GetCompleted() {
		delete(m.behind, one.stage)
	}
	lead := m.log.timeline.lead[one.stage]
	for _, block := range one.response.GetBlocks() {
		for _, line := range logbuf.AppendBlock(nil, block) {
			m.lines = append(m.lines, led(lead, line))
		}
	}
}

// settle puts the lines into the buffer when all that were written so far are there; it reports whether it did.
func (m *merging) settle() bool {
	switch {
	case m.begun:
		m.log.buffer.Append(m.lines...)
	case len(m.behind) == 0 || len(m.lines) > maxEarly:
		m.log.timeline.catchUp(m.log.buffer, m.lines)
		m.begun = true
	default:
		return false
	}
	m.lines = nil
	return true
}
