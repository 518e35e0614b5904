// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package share

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/pipedeck/pipedeck/system/owned"
	"github.com/pipedeck/pipedeck/tui/text"
)

// failures takes what the server of the page reports: panics, with where they came from, and errors of accepting.
type failures struct {
	// dir is the directory of the environment; empty for what has none. Its log gets the whole report.
	dir string
	// say shows the user the first line.
	say func(part, line string)
}

// handshake begins the report about a browser that does not accept the certificate. It is no error of ours.
var handshake = []byte("http: TLS handshake error")

// logFile is the log of the environment, which its host writes, too.
const logFile = "host.log"

// Write takes one report. The server of the page calls it from several goroutines. It opens the log for each report,
// because reports are rare, and the environment may not have had a directory before.
func (f *failures) Write(report []byte) (int, error) {
	if bytes.HasPrefix(report, handshake) {
		return len(report), nil
	}
	first, _, _ := bytes.Cut(report, []byte("\n"))
	line := "the page has failed: " + text.Line(string(first))
	if f.dir != "" {
		path := filepath.Join(f.dir, "logs", logFile)
		if err := f.log(path, string(report)); err != nil {
			line += "; it cannot be logged: " + text.Line(err.Error())
		} else {
			line += "; more is in " + path
		}
	}
	f.say("web", line)
	return len(report), nil
}

func (f *failures) log(path, report string) error {
	file, err := owned.OpenLog(path, owned.MaxLog)
	if err != nil {
		return err
	}
	return record(file, report)
}

// record writes a report to a log, which it closes. A logger would drop the error of its handler.
func record(log io.WriteCloser, report string) error {
	line := slog.NewRecord(time.Now(), slog.LevelError, "the page has failed", 0)
	line.AddAttrs(slog.String("report", report))
	return errors.Join(slog.NewTextHandler(log, nil).Handle(context.Background(), line), log.Close())
}
