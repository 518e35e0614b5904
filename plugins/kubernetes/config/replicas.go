// Copyright 2026 The pipedeck Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Replicas is a number of pods, or a share of the primary's: 2, "2" or "50%". The zero value means "not given".
type Replicas struct {
	Number  int
	Percent bool
}

// JSONSchema is the schema of both forms.
func (Replicas) JSONSchema() map[string]any {
	return map[string]any{
		"type": []string{"integer", "string"}, "minimum": 0, "pattern": "^[0-9]{1,9}%?$",
		"patternErrorMessage": `a whole number or a percentage such as "50%"`,
	}
}

// UnmarshalJSON reads a number, "N" or "N%".
func (r *Replicas) UnmarshalJSON(data []byte) error {
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		return err
	}
	text := ""
	switch v := v.(type) {
	case nil:
		return nil
	case float64:
		text = strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		text = strings.TrimSpace(v)
	default:
		return fmt.Errorf("replicas: %s is neither a number nor a percentage such as \"50%%\"", data)
	}
	digits, percent := strings.CutSuffix(text, "%")
	n, err := strconv.Atoi(digits)
	if err != nil || n < 0 {
		return fmt.Errorf("replicas: %q is neither a whole number nor a percentage such as \"50%%\"", text)
	}
	*r = Replicas{Number: n, Percent: percent}
	return nil
}

// Of returns the number of pods for a primary of the given size: a share is rounded up, nothing given is 1
// (PipeCD v1: the same).
func (r *Replicas) Of(primary int64) int64 {
	if r == nil {
		return 1
	}
	if !r.Percent {
		return int64(r.Number)
	}
	return (primary*int64(r.Number) + 99) / 100
}

// String is the form a user writes.
func (r Replicas) String() string {
	if r.Percent {
		return strconv.Itoa(r.Number) + "%"
	}
	return strconv.Itoa(r.Number)
}
