// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package sdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// DecodeOptions decodes a stage's "with" and calls its Validate() error when T has one. Empty input
// gives the zero value (a quick sync). Unknown keys are ignored, as PipeCD v1 does.
func DecodeOptions[T any](options json.RawMessage) (T, error) {
	var value T
	if err := decodeInto(options, &value); err != nil {
		return value, fmt.Errorf("the stage's \"with\" is not valid: %w", err)
	}
	return value, nil
}

// Duration is a time.Duration written as "1m30s" or as a number of nanoseconds.
type Duration time.Duration

// Std returns the standard type.
func (d Duration) Std() time.Duration { return time.Duration(d) }

func (d Duration) String() string { return time.Duration(d).String() }

// JSONSchema is the schema of both forms, without negative durations. Package optionschema calls it.
func (Duration) JSONSchema() map[string]any {
	return map[string]any{
		"type": []string{"string", "integer"}, "minimum": 0,
		"pattern":             `^\+?(0|([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+$`,
		"patternErrorMessage": `a duration such as "10s" or "1h30m", or a whole number of nanoseconds`,
	}
}

// MarshalJSON writes the form "1m30s".
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads both forms.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var nanoseconds int64
	if err := json.Unmarshal(data, &nanoseconds); err == nil {
		*d = Duration(nanoseconds)
		return nil
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("%s is not a duration; write one as \"90s\" or \"1m30s\"", data)
	}
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is not a duration; write one as \"90s\" or \"1m30s\"", text)
	}
	*d = Duration(parsed)
	return nil
}

// decodeInto decodes JSON (empty: {}) and validates.
func decodeInto(data []byte, value any) error {
	if len(bytes.TrimSpace(data)) > 0 {
		if err := json.Unmarshal(data, value); err != nil {
			return decodeError(err)
		}
	}
	if v, ok := value.(interface{ Validate() error }); ok {
		return v.Validate()
	}
	return nil
}

// decodeError names the key of a value of the wrong type in the words of a configuration file.
func decodeError(err error) error {
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) && mistyped.Field != "" {
		return fmt.Errorf("%s must be %s, not %s", mistyped.Field, kindName(mistyped), valueName(mistyped.Value))
	}
	return err
}

func kindName(err *json.UnmarshalTypeError) string {
	switch kind := err.Type.Kind().String(); kind {
	case "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64":
		return "a whole number"
	case "float32", "float64":
		return "a number"
	case "slice", "array":
		return "a list"
	case "struct", "map":
		return "a map"
	default:
		return "a " + kind
	}
}

// valueName puts what encoding/json found into words.
func valueName(value string) string {
	switch value {
	case "array":
		return "a list"
	case "object":
		return "a map"
	default:
		return "a " + value
	}
}
