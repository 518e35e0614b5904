// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package pluginhost

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pipedeck/pipedeck/piped/clip"
)

// record is a line of a structured log, as Go's log/slog writes it, in text or as JSON.
type record struct {
	level, message string
	// what is the value of error, err or panic; empty for none.
	what string
}

// recordOf reads a line of the output; false for one that is no such record.
func recordOf(line string) (r record, is bool) {
	values := map[string]string{}
	if strings.HasPrefix(line, "{") {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) != nil {
			return r, false
		}
		for key, value := range fields {
			values[key] = fmt.Sprint(value)
		}
	} else if strings.HasPrefix(line, "time=") || strings.HasPrefix(line, "level=") {
		values = pairs(line)
	}
	r = record{values["level"], values["msg"], cmp.Or(values["error"], values["err"], values["panic"])}
	return r, r.level != "" && r.message != ""
}

// pairs reads key=value and key="quoted value". The last value of a line that was cut may have no end.
func pairs(line string) map[string]string {
	values := map[string]string{}
	for line != "" {
		key, rest, _ := strings.Cut(line, "=")
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			value, after, _ := strings.Cut(rest, " ")
			values[key], line = strings.TrimPrefix(value, `"`), after
			continue
		}
		values[key], _ = strconv.Unquote(quoted)
		line = strings.TrimPrefix(rest[len(quoted):], " ")
	}
	return values
}

// ofLife reports whether a line is what our SDK writes at the start and at the stop of each process.
func ofLife(line string) bool {
	r, is := recordOf(line)
	return is && r.level == "INFO" && slices.Contains([]string{"plugin is ready", "plugin is stopping"}, r.message)
}

// maxShownLine bounds a line of the output within an error, in bytes.
const maxShownLine = 400

// readable is a line of the output for an error: of a record its message and the first line of its error.
func readable(line string) string {
	if r, is := recordOf(line); is {
		line = r.message
		if what, _, _ := strings.Cut(r.what, "\n"); what != "" {
			line += ": " + what
		}
		line, _, _ = strings.Cut(line, "\n")
	}
	if len(line) > maxShownLine {
		line = clip.Bytes(line, maxShownLine) + "…"
	}
	return line
}
