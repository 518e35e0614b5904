// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/pipedeck/pipedeck/system/plainerror"
)

// severities are the names that PipeCD and the log services of clouds give to levels.
var severities = map[slog.Level]string{slog.LevelDebug: "DEBUG", slog.LevelInfo: "INFO", slog.LevelWarn: "WARNING",
	slog.LevelError: "ERROR"}

// asPipeCD names the parts of a line as PipeCD's piped does: eventTime (seconds since 1970), severity, message. Errors
// are plain.
func asPipeCD(groups []string, a slog.Attr) slog.Attr {
	a = plainerror.Attr(groups, a)
	if len(groups) > 0 {
		return a
	}
	switch {
	case a.Key == slog.TimeKey && a.Value.Kind() == slog.KindTime:
		return slog.Float64("eventTime", float64(a.Value.Time().UnixNano())/1e9)
	case a.Key == slog.LevelKey:
		if level, ok := a.Value.Any().(slog.Level); ok && severities[level] != "" {
			return slog.String("severity", severities[level])
		}
	case a.Key == slog.MessageKey:
		return slog.Attr{Key: "message", Value: a.Value}
	}
	return a
}

// newLogger creates the logger that --log-level and --log-encoding ask for. The encodings are PipeCD v1's:
// humanize and console are lines of text, json is one object a line.
func newLogger(out io.Writer, level, encoding string) (*slog.Logger, error) {
	options := &slog.HandlerOptions{ReplaceAttr: plainerror.Attr}
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level is %q, want debug, info, warn or error", level)
	}
	options.Level = l
	switch encoding {
	case "json":
		options.ReplaceAttr = asPipeCD
		return slog.New(slog.NewJSONHandler(out, options)).With(slog.Group("serviceContext", "service", "piped",
			"version", version)), nil
	case "humanize", "console":
		return slog.New(slog.NewTextHandler(out, options)), nil
	default:
		return nil, fmt.Errorf("--log-encoding is %q, want json, humanize or console", encoding)
	}
}
