// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
	"time"
)

// Duration is a length of time written as "10s" or as an integer number of nanoseconds.
type Duration time.Duration

// Std returns d as the standard library's type.
func (d Duration) Std() time.Duration { return time.Duration(d) }

// String returns d the way it is written in a configuration file, such as "1m30s".
func (d Duration) String() string { return time.Duration(d).String() }

// JSONSchema is the schema of both forms, for the schemas of the files.
func (Duration) JSONSchema() map[string]any {
	return map[string]any{
		"type": []string{"string", "integer"}, "minimum": 0,
		"pattern": `^\+?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`,
	}
}

// IsHardlyDuration reports whether a number of nanoseconds is so small that another unit was most likely meant.
func IsHardlyDuration(nanoseconds int64) bool {
	return nanoseconds > 0 && nanoseconds < int64(time.Millisecond)
}

// HardlyDuration is the warning on such a number.
func HardlyDuration(text string) string {
	return fmt.Sprintf("%s without a unit means nanoseconds; did you mean \"%ss\"?", text, text)
}

// MarshalJSON writes d as text.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON accepts text as in "10s" and integer nanoseconds.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err == nil {
		parsed, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("duration %q: want a text like \"10s\" or \"1h30m\"", text)
		}
		*d = Duration(parsed)
		return nil
	}
	var nanoseconds int64
	if err := json.Unmarshal(data, &nanoseconds); err != nil {
		return fmt.Errorf("duration %s: want a text like \"10s\" or integer nanoseconds", data)
	}
	*d = Duration(nanoseconds)
	return nil
}
