// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"fmt"
	"io"
	"log/slog"
)

// newLogger creates the logger of the process; level and encoding are those of PipeCD v1's flags.
func newLogger(w io.Writer, level, encoding string) (*slog.Logger, error) {
	options := &slog.HandlerOptions{}
	var parsed slog.Level
	if err := parsed.UnmarshalText([]byte(level)); err != nil {
		return nil, fmt.Errorf("--log-level is %q, want debug, info, warn or error", level)
	}
	options.Level = parsed
	switch encoding {
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	case "console", "humanize":
		return slog.New(slog.NewTextHandler(w, options)), nil
	default:
		return nil, fmt.Errorf("--log-encoding is %q, want json, console or humanize", encoding)
	}
}
