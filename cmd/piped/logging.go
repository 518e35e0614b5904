// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"log/slog"
)

// newLogger makes the logger that --log-level and --log-encoding ask for. The encodings are PipeCD v1's:
// humanize and console are lines of text, json is one object a line.
func newLogger(out io.Writer, level, encoding string) (*slog.Logger, error) {
	options := &slog.HandlerOptions{}
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level is %q, want debug, info, warn or error", level)
	}
	options.Level = l
	switch encoding {
	case "json":
		return slog.New(slog.NewJSONHandler(out, options)), nil
	case "humanize", "console":
		return slog.New(slog.NewTextHandler(out, options)), nil
	default:
		return nil, fmt.Errorf("--log-encoding is %q, want json, humanize or console", encoding)
	}
}
