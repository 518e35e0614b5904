// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdktest

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/pipedeck/pipedeck/plugins/sdk"
)

// Severity is how an entry of a log is shown.
type Severity int

// The severities.
const (
	Info Severity = iota
	Success
	Error
)

func (s Severity) String() string {
	switch s {
	case Success:
		return "SUCCESS"
	case Error:
		return "ERROR"
	}
	return "INFO"
}

// Entry is one entry of a log. The text has no line end.
type Entry struct {
	Severity Severity
	Text     string
}

// Log is the log of a stage for tests of single functions. It keeps what is written; each line of output is one entry.
// It may be used by several goroutines.
type Log struct {
	kept   *kept
	prefix string
	out    *lines
}

// kept is what a log and its parts write together.
type kept struct {
	t testing.TB

	mu      sync.Mutex
	entries []Entry
}

var _ sdk.StageLog = (*Log)(nil)

// NewLog returns an empty log, which is written to the log of the test, too.
func NewLog(t testing.TB) *Log { return newLog(&kept{t: t}, "") }

func newLog(k *kept, prefix string) *Log {
	return &Log{kept: k, prefix: prefix, out: &lines{kept: k, prefix: prefix}}
}

// Entries are what was written, in its order.
func (l *Log) Entries() []Entry {
	_ = l.out.Close()
	l.kept.mu.Lock()
	defer l.kept.mu.Unlock()
	return append([]Entry(nil), l.kept.entries...)
}

// Text is what was written, one line end after each entry.
func (l *Log) Text() string {
	var text strings.Builder
	for _, entry := range l.Entries() {
		text.WriteString(entry.Text + "\n")
	}
	return text.String()
}

// Info implements [sdk.StageLog], as the other methods do.
func (l *Log) Info(text string) { l.write(Info, text) }

// Success implements [sdk.StageLog].
func (l *Log) Success(text string) { l.write(Success, text) }

// Error implements [sdk.StageLog].
func (l *Log) Error(text string) { l.write(Error, text) }

// Infof implements [sdk.StageLog].
func (l *Log) Infof(format string, args ...any) { l.Info(fmt.Sprintf(format, args...)) }

// Successf implements [sdk.StageLog].
func (l *Log) Successf(format string, args ...any) { l.Success(fmt.Sprintf(format, args...)) }

// Errorf implements [sdk.StageLog].
func (l *Log) Errorf(format string, args ...any) { l.Error(fmt.Sprintf(format, args...)) }

// Write implements [sdk.StageLog].
func (l *Log) Write(p []byte) (int, error) { return l.out.Write(p) }

// Lines implements [sdk.StageLog].
func (l *Log) Lines() io.WriteCloser { return &lines{kept: l.kept, prefix: l.prefix} }

// Prefixed implements [sdk.StageLog].
func (l *Log) Prefixed(prefix string) sdk.StageLog { return newLog(l.kept, l.prefix+prefix) }

func (l *Log) write(severity Severity, text string) {
	_ = l.out.Close()
	l.kept.add(severity, l.prefix, text)
}

// add keeps one entry, each line of it with the prefix.
func (k *kept) add(severity Severity, prefix, text string) {
	text = prefix + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+prefix)
	text = strings.ToValidUTF8(text, "\uFFFD")
	k.t.Helper()
	k.t.Logf("%s %s", severity, text)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.entries = append(k.entries, Entry{severity, text})
}

// lines makes an entry of each line.
type lines struct {
	kept   *kept
	prefix string

	mu   sync.Mutex
	rest string
}

func (w *lines) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rest += string(p)
	for {
		line, rest, whole := strings.Cut(w.rest, "\n")
		if !whole {
			return len(p), nil
		}
		w.kept.add(Info, w.prefix, line)
		w.rest = rest
	}
}

func (w *lines) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.rest != "" {
		w.kept.add(Info, w.prefix, w.rest)
		w.rest = ""
	}
	return nil
}
