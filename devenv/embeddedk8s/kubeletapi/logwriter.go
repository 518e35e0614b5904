// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package kubeletapi

import (
	"bytes"
	"io"
	"time"
)

// timeFormat is that of times in log files, and before lines that are sent with timestamps.
const timeFormat = "2006-01-02T15:04:05.000000000Z07:00"

// logWriter writes the wanted lines of a log as users read them.
type logWriter struct {
	to      io.Writer
	options logOptions
	flush   func()
	// begun says that something was written, inLine that it was the first part of a line.
	begun, inLine bool
	written       int64
}

// write takes a line of a log file, with its end of line. A line that is in no format comes from a crash in the middle
// of a write; it is shown as it is.
func (w *logWriter) write(line []byte) error {
	at, stream, text, whole := parse(line)
	if w.options.stream != "" && stream != "" && stream != w.options.stream ||
		!w.options.since.IsZero() && at.Before(w.options.since) {
		return nil
	}
	var out []byte
	if w.options.timestamps && !w.inLine && !at.IsZero() {
		out = append(at.UTC().AppendFormat(nil, timeFormat), ' ')
	}
	out = append(out, text...)
	if w.inLine = !whole; whole {
		out = append(out, '\n')
	}
	return w.send(out)
}

func (w *logWriter) send(out []byte) error {
	if w.options.limit >= 0 {
		out = out[:min(int64(len(out)), w.options.limit-w.written)]
	}
	w.begun = w.begun || len(out) > 0
	n, err := w.to.Write(out)
	w.written += int64(n)
	if err == nil && w.options.limit >= 0 && w.written >= w.options.limit {
		return errEnough
	}
	return err
}

// parse takes a line of a log file apart: 2006-01-02T15:04:05.000000000Z stdout F text. Of a line in another format the
// whole is the text, without a time.
func parse(line []byte) (at time.Time, stream string, text []byte, whole bool) {
	line = bytes.TrimSuffix(line, []byte("\n"))
	fields := bytes.SplitN(line, []byte(" "), 4)
	if len(fields) < 3 {
		return time.Time{}, "", line, true
	}
	at, err := time.Parse(time.RFC3339Nano, string(fields[0]))
	if err != nil {
		return time.Time{}, "", line, true
	}
	if len(fields) == 4 {
		text = fields[3]
	}
	return at, string(fields[1]), text, isWhole(fields[2])
}

// isWhole reports whether the tags of a line say that the line ends with it.
func isWhole(tags []byte) bool {
	return !bytes.Equal(tags, []byte("P")) && !bytes.HasPrefix(tags, []byte("P:"))
}
