// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/pipedeck/pipedeck/api/model"
)

// maxBlockBytes is the largest log block; longer texts become several. PipeCD's control plane stores each
// block as a line of JSON, reads lines of less than 64 KiB only, and forgets without a word what comes
// after a longer one. JSON takes up to six bytes for one.
const maxBlockBytes = 10 << 10

// StageLog is the log of one stage, seen by users as it is written. Its methods may be called from
// several goroutines. They wait only when piped does not take the log for so long that the queue is full. Package
// wiretest has one for unit tests.
type StageLog interface {
	// Writer takes the output of a program, as Lines does. It never fails.
	io.Writer
	// Info writes an entry; text may hold several lines.
	Info(text string)
	// Success writes an entry that is shown as a success.
	Success(text string)
	// Error writes an entry that is shown as an error.
	Error(text string)
	Infof(format string, args ...any)
	Successf(format string, args ...any)
	Errorf(format string, args ...any)
	// Lines creates a separate writer for one stream of output, so that the lines of two programs do not
	// mix. It passes on whole lines as they are written; what is written faster than piped takes it is sent several
	// lines a block. A line longer than 10 KiB is split, and bytes that are not UTF-8 are replaced by U+FFFD. Close
	// passes on a last line without a line end; the writer can be used again after it. Neither fails.
	Lines() io.WriteCloser
	// Prefixed is the same log for one part of the stage, such as a deploy target: each line begins with prefix.
	Prefixed(prefix string) StageLog
}

// stageLog is the StageLog of a stage that piped executes.
type stageLog struct {
	queue *logQueue
	out   *lineWriter
	// prefix begins each line.
	prefix string

	mu    sync.Mutex
	parts []*stageLog
}

var _ StageLog = (*stageLog)(nil)

func newStageLog(queue *logQueue) *stageLog {
	l := &stageLog{queue: queue}
	l.out = l.lines()
	return l
}

func (l *stageLog) Prefixed(prefix string) StageLog {
	part := &stageLog{queue: l.queue, prefix: l.prefix + prefix}
	part.out = part.lines()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parts = append(l.parts, part)
	return part
}

// finish passes on last lines without a line end.
func (l *stageLog) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, part := range l.parts {
		part.finish()
	}
	_ = l.out.Close()
}

func (l *stageLog) Info(text string) { l.write(model.LogSeverity_INFO, text) }

func (l *stageLog) Success(text string) { l.write(model.LogSeverity_SUCCESS, text) }

func (l *stageLog) Error(text string) { l.write(model.LogSeverity_ERROR, text) }

func (l *stageLog) Infof(format string, args ...any) { l.Info(fmt.Sprintf(format, args...)) }

func (l *stageLog) Successf(format string, args ...any) { l.Success(fmt.Sprintf(format, args...)) }

func (l *stageLog) Errorf(format string, args ...any) { l.Error(fmt.Sprintf(format, args...)) }

func (l *stageLog) Write(p []byte) (int, error) { return l.out.Write(p) }

func (l *stageLog) Lines() io.WriteCloser { return l.lines() }

func (l *stageLog) lines() *lineWriter {
	return &lineWriter{queue: l.queue, prefix: l.prefix, number: l.queue.newWriter()}
}

func (l *stageLog) write(severity model.LogSeverity, text string) {
	_ = l.out.Close()
	if text == "" {
		text = "\n" // a block must not be empty
	}
	for _, piece := range splitBlocks(prefixLines([]byte(text), l.prefix)) {
		l.queue.push(entry{severity: severity, text: piece})
	}
}

// prefixLines puts the prefix before each line.
func prefixLines(text []byte, prefix string) []byte {
	if prefix == "" {
		return text
	}
	var made []byte
	for line := range bytes.Lines(text) {
		made = append(append(made, prefix...), line...)
	}
	return made
}

// lineWriter is what Lines creates.
type lineWriter struct {
	queue  *logQueue
	prefix string
	number int64

	mu   sync.Mutex
	rest []byte
}

func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest = append(w.rest, p...)
	if end := bytes.LastIndexByte(w.rest, '\n') + 1; end > 0 {
		w.pass(w.rest[:end])
		w.rest = append(w.rest[:0], w.rest[end:]...)
	}
	for len(w.rest) > maxBlockBytes {
		end := runeStart(w.rest, maxBlockBytes)
		w.pass(w.rest[:end])
		w.rest = append(w.rest[:0], w.rest[end:]...)
	}
	if len(w.rest) > 0 {
		w.queue.lineStarted(w.number, prefixLines(w.rest, w.prefix))
	}
	return len(p), nil
}

func (w *lineWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) > 0 {
		w.pass(w.rest)
		w.rest = w.rest[:0]
	}
	return nil
}

func (w *lineWriter) pass(data []byte) {
	for _, piece := range splitBlocks(prefixLines(data, w.prefix)) {
		w.queue.push(entry{text: piece, joinable: true, writer: w.number})
	}
}

// splitBlocks cuts text into valid UTF-8 pieces of bounded size, at line ends where there are any. The
// pieces are copies.
func splitBlocks(data []byte) [][]byte {
	var pieces [][]byte
	for len(data) > 0 {
		end := len(data)
		if end > maxBlockBytes {
			end = bytes.LastIndexByte(data[:maxBlockBytes], '\n') + 1
			if end == 0 {
				end = runeStart(data, maxBlockBytes)
			}
		}
		pieces = append(pieces, bytes.ToValidUTF8(data[:end], []byte("\uFFFD")))
		data = data[end:]
	}
	return pieces
}

// runeStart is the largest place to cut at or before max that does not split a character.
func runeStart(data []byte, max int) int {
	for i := max; i > max-utf8.UTFMax; i-- {
		if utf8.RuneStart(data[i]) {
			return i
		}
	}
	return max
}
