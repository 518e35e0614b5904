// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/pipedeck/pipedeck/tui/document"
	"github.com/pipedeck/pipedeck/tui/logbuf"
)

const (
	// tailLines is with how many of the last lines a log begins, behindLines how far behind a stream may be until it
	// goes on with those, and partLines how many lines one event has.
	tailLines, behindLines, partLines = 500, 4000, 1000
	// pageLines and pageBytes bound one answer of /log.
	pageLines, pageBytes = 2000, 1 << 20
	// maxLogs bounds the logs that are read at the same time.
	maxLogs = 64
)

// logs are the logs that streams read, each once.
type logs struct {
	hub   *hub
	group sync.WaitGroup

	// ctx ends with the server; it is the owner's of the goroutines, not that of a call.
	ctx  context.Context
	stop context.CancelFunc

	mu   sync.Mutex
	open map[stageID]*stageLog
	// freed is closed and replaced when a log is read no more.
	freed chan struct{}
}

func newLogs(h *hub) *logs {
	l := &logs{hub: h, open: map[stageID]*stageLog{}, freed: make(chan struct{})}
	l.ctx, l.stop = context.WithCancel(context.Background())
	return l
}

// close returns when no log is read any more.
func (l *logs) close() {
	l.mu.Lock()
	l.stop() // no log begins after that
	l.mu.Unlock()
	l.group.Wait()
}

// take returns the log of a stage, which is read until release; nil when there are too many, and after close. Then
// freed is closed when another try is worth it.
func (l *logs) take(id stageID) (log *stageLog, freed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known := l.open[id]
	if known == nil {
		if len(l.open) >= maxLogs || l.ctx.Err() != nil {
			return nil, l.freed
		}
		ctx, cancel := context.WithCancel(l.ctx)
		known = newStageLog(id, l.hub, cancel)
		l.open[id] = known
		l.group.Go(func() { known.run(ctx) })
	}
	known.readers++
	return known, nil
}

// release ends the reading of a log that no one else reads.
func (l *logs) release(log *stageLog) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if log.readers--; log.readers > 0 {
		return
	}
	log.cancel()
	delete(l.open, log.id)
	close(l.freed)
	l.freed = make(chan struct{})
}

// stageLog is the log of a stage.
type stageLog struct {
	id     stageID
	hub    *hub
	cancel context.CancelFunc
	// readers belongs to logs.
	readers int

	mu     sync.Mutex
	buffer *logbuf.Buffer
	// generation counts the logs that have taken the place of the one before.
	generation int
	// shown are the lines that streams may send; lines behind are gathered.
	shown     int
	complete  bool
	truncated bool
	// come: everything that there was at the beginning is in the buffer; answered: it is shown.
	come, answered bool
	trouble        string
	// parts are the last parts that were encoded for all streams.
	parts   []logPart
	changed chan struct{}
}

// logPart are encoded lines, from the number from up to next, with what the log was at that time.
type logPart struct {
	from, next int
	at         logState
	body       *body
}

// maxParts bounds the parts that are kept.
const maxParts = 32

func newStageLog(id stageID, h *hub, cancel context.CancelFunc) *stageLog {
	return &stageLog{id: id, hub: h, cancel: cancel, buffer: logbuf.New(logLimits), changed: make(chan struct{})}
}

// logLimits bound what one log takes.
var logLimits = logbuf.Limits{Memory: 4 << 20, Disk: 256 << 20, LineBytes: 64 << 10}

// place is where a stream is in a log: the number of the next line, and the log that it counts in. A negative line is
// before the first event.
type place struct {
	generation, line int
	// said is what the last event had besides lines.
	said logState
}

type logState struct {
	answered, complete, truncated bool
	trouble                       string
}

// next returns the event that a stream at a place gets, and the place after it; none when there is nothing new. more
// says that another event follows at once.
func (l *stageLog) next(at place) (event *body, to place, more bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	changed = l.changed
	now := l.state()
	to = place{l.generation, at.line, now}
	again := at.line >= 0 && at.generation != l.generation
	if again || at.line > l.shown || at.line < 0 || l.shown-at.line > behindLines {
		to.line = max(0, l.shown-tailLines)
	}
	if first, _ := l.buffer.Span(); to.line < first {
		to.line = first
	}
	if !l.answered && l.trouble == "" { // it may be empty, or only not have come
		return nil, at, false, changed
	}
	if to.line == l.shown && now == at.said && !again && at.line >= 0 {
		return nil, at, false, changed
	}
	from := to.line
	to.line = min(l.shown, from+partLines)
	known := slices.IndexFunc(l.parts, func(p logPart) bool {
		return p.from == from && p.next == to.line && p.at == now
	})
	if known >= 0 && !again {
		return l.parts[known].body, to, to.line < l.shown, changed
	}
	event, to.line = l.encode(from, to.line, again, partBytes)
	return event, to, to.line < l.shown, changed
}

func (l *stageLog) state() logState { return logState{l.answered, l.complete, l.truncated, l.trouble} }

// partBytes bounds the text of one event.
const partBytes = 512 << 10

// encode returns the event with the lines [from, to), or fewer where they are long, and the number after the last.
func (l *stageLog) encode(from, to int, again bool, bytes int) (*body, int) {
	event := l.lines(from, to, bytes)
	event.Again = again
	return newBody(event), event.From + len(event.Lines)
}

// lines are [from, to) with what the log is now.
func (l *stageLog) lines(from, to, bytes int) Log {
	first, _ := l.buffer.Span()
	log := Log{Deployment: l.id.deployment, Stage: l.id.stage, From: max(from, first), Lines: []Line{}, First: first,
		Next: l.shown, Complete: l.complete, Truncated: l.truncated, Error: l.trouble}
	for _, line := range l.buffer.Lines(log.From, max(0, min(to, l.shown)-log.From)) {
		if bytes -= len(line.Text); bytes < 0 && len(log.Lines) > 0 {
			break
		}
		log.Lines = append(log.Lines, newLine(line))
	}
	return log
}

// Words of lines for other programs.
var (
	severityWords = [...]string{logbuf.Plain: "", logbuf.Info: "INFO", logbuf.Success: "SUCCESS",
		logbuf.Error: "ERROR", logbuf.Process: ""}
	levelWords = [...]string{logbuf.Source: "source", logbuf.Debug: "debug", logbuf.Normal: "normal",
		logbuf.Warn: "warn", logbuf.Failure: "failure"}
)

func newLine(l logbuf.Line) Line {
	line := Line{Severity: severityWords[l.Severity], Level: levelWords[l.Level], Text: l.Text}
	if !l.Time.IsZero() {
		line.Time = document.Moment(l.Time)
	}
	return line
}

// awaitTime is how long an answer of /log waits for a log that is not there yet.
const awaitTime = 5 * time.Second

// await returns the lines [from, to) as soon as the log has come so far, or all that there is.
func (l *stageLog) await(ctx context.Context, from, to int) (lines Log, ok bool) {
	late := l.hub.options.Clock.After(awaitTime)
	for {
		l.mu.Lock()
		ok = l.shown >= to || l.answered
		lines = l.lines(from, to, pageBytes)
		changed := l.changed
		l.mu.Unlock()
		if ok {
			return lines, true
		}
		select {
		case <-changed:
		case <-late:
			return lines, false
		case <-ctx.Done():
			return Log{}, false
		}
	}
}
