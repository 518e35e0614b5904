// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package containers

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

const (
	// maxLog bounds one file of a log; there are two at most, as Rotated names the older one.
	maxLog = 10 << 20
	// maxLine bounds the text of one entry; a longer line is several partial entries.
	maxLine = 8 << 10
	// A termination message is the end of the output, within these bounds: those of the kubelet's
	// FallbackToLogsOnError.
	maxMessage      = 2048
	maxMessageLines = 80
)

// Log is the output of one run of a container, in the format of container runtimes: a time, a stream, F for a whole
// line or P for a part of one, and the text. Both outputs of a process come through one pipe, which keeps their order,
// and are marked stdout.
type Log struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
	part []byte // of a line that has not ended
	tail []byte
}

// Rotated is where the older part of a log is kept once it was too large for one file.
func Rotated(path string) string { return path + ".1" }

// OpenLog creates the log of a new run, mode 0600. The directory exists.
func OpenLog(path string) (*Log, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create the log of a container: %w", err)
	}
	return &Log{path: path, file: file}, nil
}

// copyFrom writes what is read until that ends. What cannot be written, on a full disk for one, is dropped: a process
// whose output no one reads would block.
func (l *Log) copyFrom(output io.Reader) {
	buffer := make([]byte, maxLine)
	for {
		n, err := output.Read(buffer)
		l.write(buffer[:n], time.Now())
		if err != nil {
			return
		}
	}
}

func (l *Log) write(data []byte, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keepTail(data)
	for {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			break
		}
		l.entry(append(l.part, data[:end]...), 'F', now)
		l.part, data = l.part[:0], data[end+1:]
	}
	l.part = append(l.part, data...)
	for len(l.part) >= maxLine {
		l.entry(l.part[:maxLine], 'P', now)
		l.part = append(l.part[:0], l.part[maxLine:]...)
	}
}

// entry is called with mu held.
func (l *Log) entry(text []byte, tag byte, now time.Time) {
	if l.file == nil {
		return
	}
	line := make([]byte, 0, len(text)+48)
	line = now.UTC().AppendFormat(line, "2006-01-02T15:04:05.000000000Z07:00")
	line = append(line, " stdout "...)
	line = append(line, tag, ' ')
	line = append(line, text...)
	line = append(line, '\n')
	if l.size > 0 && l.size+int64(len(line)) > maxLog {
		l.rotate()
	}
	n, _ := l.file.Write(line)
	l.size += int64(n)
}

func (l *Log) rotate() {
	if os.Rename(l.path, Rotated(l.path)) != nil {
		return
	}
	next, err := os.OpenFile(l.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return // the entries go on in the renamed file
	}
	_ = l.file.Close()
	l.file, l.size = next, 0
}

// keepTail is called with mu held.
func (l *Log) keepTail(data []byte) {
	l.tail = append(l.tail, data...)
	if len(l.tail) > 2*maxMessage {
		l.tail = append(l.tail[:0], l.tail[len(l.tail)-maxMessage:]...)
	}
}

// Message is the end of the output, as a kubelet reports it of a container that failed and wrote no message.
func (l *Log) Message() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	tail := l.tail[max(0, len(l.tail)-maxMessage):]
	lines := strings.SplitAfter(strings.ToValidUTF8(string(tail), "�"), "\n")
	return strings.Join(lines[max(0, len(lines)-1-maxMessageLines):], "")
}

// Close ends the log. A line that has not ended is written as it is.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	if len(l.part) > 0 {
		l.entry(l.part, 'F', time.Now())
		l.part = nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}
