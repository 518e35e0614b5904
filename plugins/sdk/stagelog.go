// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"bytes"
	"fmt"
	"sync"
	"unicode/utf8"

	"github.com/pipedeck/pipedeck/api/model"
)

// maxBlockBytes is the largest log block; longer texts become several. PipeCD's control plane stores each
// block as a line of JSON, reads lines of less than 64 KiB only, and forgets without a word what comes
// after a longer one. JSON takes up to six bytes for one.
const maxBlockBytes = 10 << 10

// StageLog is the log of one stage, seen by users as it is written. Its methods may be called from
// several goroutines. They wait only when piped does not take the log for so long that the queue is full.
type StageLog struct {
	queue *logQueue
	out   *LineWriter
	// prefix begins each line.
	prefix string

	mu    sync.Mutex
	parts []*StageLog
}

func newStageLog(queue *logQueue) *StageLog {
	l := &StageLog{queue: queue}
	l.out = l.Lines()
	return l
}

// Prefixed is the same log for one part of the stage, such as a deploy target: each of its lines begins with prefix.
func (l *StageLog) Prefixed(prefix string) *StageLog {
	part := &StageLog{queue: l.queue, prefix: l.prefix + prefix}
	part.out = part.Lines()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.parts = append(l.parts, part)
	return part
}

// finish passes on last lines without a line end.
func (l *StageLog) finish() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, part := range l.parts {
		part.finish()
	}
	_ = l.out.Close()
}

// Info writes an entry; text may hold several lines.
func (l *StageLog) Info(text string) { l.write(model.LogSeverity_INFO, text) }

// Success writes an entry that is shown as a success.
func (l *StageLog) Success(text string) { l.write(model.LogSeverity_SUCCESS, text) }

// Error writes an entry that is shown as an error.
func (l *StageLog) Error(text string) { l.write(model.LogSeverity_ERROR, text) }

// Infof is Info with a format.
func (l *StageLog) Infof(format string, args ...any) { l.Info(fmt.Sprintf(format, args...)) }

// Successf is Success with a format.
func (l *StageLog) Successf(format string, args ...any) { l.Success(fmt.Sprintf(format, args...)) }

// Errorf is Error with a format.
func (l *StageLog) Errorf(format string, args ...any) { l.Error(fmt.Sprintf(format, args...)) }

// Write takes the output of a program; see LineWriter. It never fails.
func (l *StageLog) Write(p []byte) (int, error) { return l.out.Write(p) }

// Lines creates a separate writer for one stream of output, so that the lines of two programs do not
// mix. Close it to pass on a last line without a line end.
func (l *StageLog) Lines() *LineWriter {
	return &LineWriter{queue: l.queue, prefix: l.prefix, number: l.queue.newWriter()}
}

func (l *StageLog) write(severity model.LogSeverity, text string) {
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

// LineWriter passes whole lines to the stage log, line ends included, as they are written; what is
// written faster than piped takes it is sent several lines a block. A line longer than 10 KiB is split.
// Bytes that are not UTF-8 are replaced by U+FFFD.
type LineWriter struct {
	queue  *logQueue
	prefix string
	number int64

	mu   sync.Mutex
	rest []byte
}

// Write implements io.Writer; it never fails.
func (w *LineWriter) Write(p []byte) (int, error) {
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

// Close passes on what came after the last line end. The writer can be used again.
func (w *LineWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.rest) > 0 {
		w.pass(w.rest)
		w.rest = w.rest[:0]
	}
	return nil
}

func (w *LineWriter) pass(data []byte) {
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
